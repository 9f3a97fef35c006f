package keyreeve

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
)

// programManagement starts the scenario of the management, which packages/conformance/README.md describes.
type programManagement struct {
	URL           string `json:"url"`
	ManagementKey string `json:"managementKey"`
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func failureOf(err error) []any {
	var failure *Error
	if !errors.As(err, &failure) {
		log.Fatal("expected an Error: ", err)
	}
	return []any{failure.Status, failure.Code}
}

func nicknamesOf(page Page[KeySummary]) []string {
	names := []string{}
	for _, each := range page.Entries {
		names = append(names, each.Nickname)
	}
	return names
}

func (p programManagement) run() map[string]any {
	ctx := context.Background()
	management := must(NewManagement(ManagementConfig{URL: p.URL, ManagementKey: p.ManagementKey}))
	account := must(management.CreateServiceAccount(ctx, NewServiceAccount{Name: "Analytical Engines", ExternalID: "tenant_182"}))
	_, taken := management.CreateServiceAccount(ctx, NewServiceAccount{Name: "other", ExternalID: "tenant_182"})
	found, _, err := management.FindServiceAccount(ctx, "tenant_182")
	must(found, err)
	_, isKnown, err := management.FindServiceAccount(ctx, "tenant_0")
	must(isKnown, err)
	name := "Engines"
	renamed := must(management.ChangeServiceAccount(ctx, account.ID, ServiceAccountChange{Name: &name}))
	first := must(management.ServiceAccountPage(ctx, PageQuery{Limit: 1}))
	must(management.CreateServiceAccount(ctx, NewServiceAccount{Name: "another"}))
	listed := 0
	management.ListServiceAccounts(ctx)(func(each ServiceAccount, err error) bool {
		must(each, err)
		listed++
		return true
	})
	session := must(management.CreatePortalSession(ctx, NewPortalSession{
		ExternalID:   "tenant_182",
		Capabilities: []string{"read", "create"},
		Person:       &Person{ID: "u_7", Name: "Ada"},
		Origin:       "https://app.example.com",
	}))
	must(0, management.EndPortalSession(ctx, session.ID))
	portalEnded := management.EndPortalSession(ctx, session.ID)
	quota := must(management.SetLimits(ctx, account.ID, KeyLimits{Quota: &Quota{Limit: 10_000, Per: "month"}})).Limits.Quota

	keys := management.Keys(account.ID)
	a := must(keys.Create(ctx, NewKey{Nickname: "a"}))
	must(keys.Create(ctx, NewKey{Nickname: "b"}))
	must(keys.Create(ctx, NewKey{Nickname: "c"}))
	rotated := must(keys.Rotate(ctx, a.ID, Rotation{OverlapSeconds: new(int64)}))
	printed := ""
	for _, each := range []any{a, rotated, &rotated, []any{session}, &session} {
		printed += fmt.Sprintf("%v %+v %#v %s", each, each, each, each)
	}
	shown := 0
	for _, secret := range []string{a.Key, rotated.Key, "#"} {
		shown += strings.Count(printed, secret)
	}
	changed := must(keys.Change(ctx, a.ID, KeyChange{Limits: &KeyLimits{Rate: &RateLimit{Limit: 60, WindowSeconds: 60}}}))
	query := KeyQuery{Sort: "-nickname", PageQuery: PageQuery{Limit: 2}}
	page := must(keys.Page(ctx, query))
	query.Cursor = page.NextCursor
	last := must(keys.Page(ctx, query))
	must(0, keys.Delete(ctx, a.ID))
	left := []string{}
	keys.List(ctx, KeyQuery{Sort: "nickname"})(func(each KeySummary, err error) bool {
		left = append(left, must(each, err).Nickname)
		return true
	})
	_, missing := keys.Get(ctx, a.ID)
	must(0, management.DeleteServiceAccount(ctx, account.ID))
	_, deleted := management.GetServiceAccount(ctx, account.ID)
	elsewhere := must(NewManagement(ManagementConfig{URL: "http://127.0.0.1:1", ManagementKey: p.ManagementKey}))
	_, unreachable := elsewhere.GetServiceAccount(ctx, account.ID)
	return map[string]any{
		"created":   []string{account.Name, account.ExternalID},
		"taken":     failureOf(taken),
		"found":     []bool{found.ID == account.ID, isKnown},
		"renamed":   renamed.Name,
		"firstPage": []any{len(first.Entries), first.NextCursor != ""},
		"listed":    listed,
		"portal": []any{
			strings.Contains(session.URL, "/portal/"+session.ID+"#"),
			session.ExpiresAt.Sub(session.TokenExpiresAt).Milliseconds(),
		},
		"portalEnded": failureOf(portalEnded),
		"quota":       []any{quota.Limit, quota.Per},
		"rotated":     strings.HasPrefix(rotated.Key, "krv_") && rotated.Key != a.Key,
		"printed":     shown,
		"rate":        changed.Limits.Rate.Limit,
		"pages":       []any{nicknamesOf(page), []any{last.Entries[0].Nickname, last.Entries[0].Hint == "krv_…"+rotated.Key[len(rotated.Key)-4:]}},
		"left":        left,
		"missing":     failureOf(missing),
		"deleted":     failureOf(deleted),
		"unreachable": failureOf(unreachable),
	}
}
