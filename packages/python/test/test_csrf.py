"""Which requests need a CSRF token of Django: those whose credential a browser adds to the request of another site."""

import base64
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest import mock

import applications
from django.test import Client
from django.test.utils import override_settings
from django.urls import re_path
from rules_case import KEY, RulesCase
from service import Service

import keyreeve.django

CSRF = "django.middleware.csrf.CsrfViewMiddleware"
TOKEN = "c" * 32
BEARER = "Bearer key"
BASIC = "Basic " + base64.b64encode(b"ci:key").decode()
DJANGO_REFUSES, GUARD_REFUSES = (403, "text/html"), (401, "application/problem+json")
ACCEPTED = (200, "application/json")

Post = Callable[..., tuple[int, str]]


class CsrfTokens(RulesCase):
    def guarded(self, basic: bool, as_middleware: bool) -> Post:
        """An application of Django behind a guard and the middleware of CSRF. Returns what sends a POST request to it."""
        service, stack = Service(), ExitStack()
        self.addCleanup(stack.close)
        stack.enter_context(service)
        new_client = mock.Mock(return_value=self.client(service))
        stack.enter_context(mock.patch.object(keyreeve.django, "_client", new_client))
        view = applications.view if as_middleware else keyreeve.django.require(basic=basic)(applications.view)
        stack.enter_context(
            override_settings(
                KEYREEVE={"URL": service.url, "SERVICE_KEY": KEY, "BASIC": basic},
                MIDDLEWARE=["keyreeve.django.KeyreeveMiddleware", CSRF] if as_middleware else [CSRF],
                ROOT_URLCONF=type("Urls", (), {"urlpatterns": [re_path("", view)]}),
            )
        )

        def post(authorization: str, has_token: bool = False) -> tuple[int, str]:
            client = Client(enforce_csrf_checks=True)
            headers: dict[str, Any] = {"Authorization": authorization}
            if has_token:
                client.cookies["csrftoken"] = TOKEN
                headers["X-CSRFToken"] = TOKEN
            response = client.post("/orders", headers=headers)
            return response.status_code, response["Content-Type"].partition(";")[0]

        return post

    def test_a_basic_credential_needs_a_csrf_token(self) -> None:
        for as_middleware in (False, True):
            with self.subTest(as_middleware=as_middleware):
                post = self.guarded(basic=True, as_middleware=as_middleware)
                self.assertEqual(post(BASIC), DJANGO_REFUSES)
                self.assertEqual(post(BASIC.replace("Basic", "bASIC")), DJANGO_REFUSES)
                self.assertEqual(post(BASIC, has_token=True), ACCEPTED)

    def test_another_credential_needs_no_csrf_token_where_the_guard_can_tell(self) -> None:
        # The exemption of a view is for all of its requests.
        self.assertEqual(self.guarded(basic=True, as_middleware=False)(BEARER), DJANGO_REFUSES)
        self.assertEqual(self.guarded(basic=True, as_middleware=True)(BEARER), ACCEPTED)
        for as_middleware in (False, True):
            with self.subTest(as_middleware=as_middleware):
                post = self.guarded(basic=False, as_middleware=as_middleware)
                self.assertEqual(post(BEARER), ACCEPTED)
                self.assertEqual(post(BASIC), GUARD_REFUSES)
