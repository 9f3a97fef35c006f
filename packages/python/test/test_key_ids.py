"""What is no id of a key leads to no other path."""

from __future__ import annotations

import unittest
from typing import Any

from keyreeve import KeyChange, Management


class KeyIds(unittest.TestCase):
    def test_an_id_is_a_positive_integer(self) -> None:
        keys = Management("http://127.0.0.1:1", "krv_management").keys("acc_1")
        ids: list[Any] = ["../../acc_2/api-keys/7", "%2e%2e", "7", "", 0, -1, 1.5, True]
        for id in ids:
            for call in (keys.get, keys.rotate, keys.delete):
                with self.subTest(id=id, call=call), self.assertRaises(ValueError):
                    call(id)
            with self.subTest(id=id), self.assertRaises(ValueError):
                keys.change(id, KeyChange())
