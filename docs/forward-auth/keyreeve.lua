-- The HAProxy action "lua.keyreeve": verifies the credential of a request. It needs only HAProxy 2.6 or newer.
--
--   global       setenv KEYREEVE_ORIGIN http://127.0.0.1:8787
--                lua-load-per-thread keyreeve.lua
--   frontend     http-request lua.keyreeve any            (or the name of a scope instead of "any")
--                http-request deny deny_status 503 unless { var(txn.keyreeve_allowed) -m bool }
--   before it    http-request set-var(txn.keyreeve_cost) int(5)      (what a request spends of limits, if not 1)
--                http-request set-var(txn.keyreeve_only) str(test)   (the only environment whose keys are accepted)
--
-- Keyreeve accepts: sets txn.keyreeve_account, _credential, _key_id, _nickname, _scopes, _environment (only if the installation
-- has environments) and txn.keyreeve_allowed.
-- Keyreeve rejects: sends the client Keyreeve's status, problem document, WWW-Authenticate, Retry-After and RateLimit.
-- Any other result, also an error in this file: txn.keyreeve_allowed stays unset, and the deny rule rejects the request.

local origin = assert(os.getenv("KEYREEVE_ORIGIN"), "haproxy.cfg must set KEYREEVE_ORIGIN before it loads keyreeve.lua")
-- For one attempt. HAProxy before 2.9 makes four.
local timeoutMs = 1500
-- Keyreeve rejects a request with more than one credential, so a few lines are enough.
local linesMax = 4

local identity = {
  account = "x-keyreeve-account",
  credential = "x-keyreeve-credential",
  key_id = "x-keyreeve-key-id",
  nickname = "x-keyreeve-nickname",
  scopes = "x-keyreeve-scopes",
  environment = "x-keyreeve-environment",
}

-- Rejections that the client receives. Every other status is an outage.
local rejections = { [401] = true, [403] = true, [429] = true, [503] = true }

-- HAProxy counts the lines of a header from 0.
local function first(headers, name)
  return headers and headers[name] and headers[name][0]
end

-- The scope, the cost and the environment come from haproxy.cfg. No part of the URL comes from the client.
local function verificationUrl(scope, cost, environment)
  local query = {}
  if scope ~= "any" then
    local encoded = scope:gsub("[^%w._~-]", function(character)
      return string.format("%%%02X", character:byte())
    end)
    table.insert(query, "scope=" .. encoded)
  end
  if cost then
    table.insert(query, "cost=" .. cost)
  end
  if environment then
    table.insert(query, "environment=" .. environment)
  end
  return origin .. "/auth/forward" .. (#query > 0 and "?" or "") .. table.concat(query, "&")
end

-- The unchanged lines of one header. HAProxy's parser rejects line breaks in a value, so a client cannot add headers to the
-- request. The bound is necessary: HAProxy before the correction of April 2026 (3.2.16) does not check the number of lines.
local function lines(requestHeaders, name)
  local all = requestHeaders[name]
  if not all then
    return nil
  end
  return table.move(all, 0, linesMax - 1, 0, {})
end

-- Both headers for credentials, with all their lines, so that Keyreeve can reject a request with two credentials; and the
-- IP address of the connection as the client IP, for keys with IP ranges. A header of the client could contain any address.
local function verificationHeaders(txn)
  local requestHeaders = txn.http:req_get_headers()
  return {
    ["authorization"] = lines(requestHeaders, "authorization"),
    ["x-api-key"] = lines(requestHeaders, "x-api-key"),
    ["x-forwarded-for"] = { [0] = txn.sf:src() },
  }
end

local function reject(txn, response)
  local reply = txn:reply()
  reply:set_status(response.status)
  for _, name in ipairs({ "www-authenticate", "content-type", "retry-after", "ratelimit", "ratelimit-policy" }) do
    local value = first(response.headers, name)
    if value then
      reply:add_header(name, value)
    end
  end
  reply:add_header("cache-control", "no-store")
  reply:set_body(response.body or "")
  txn:done(reply)
end

local function allow(txn, response)
  for variable, name in pairs(identity) do
    local value = first(response.headers, name)
    if value then
      txn:set_var("txn.keyreeve_" .. variable, value)
    elseif variable ~= "environment" then
      -- Keyreeve always sets these, also empty ones. Otherwise the response is not from Keyreeve.
      core.Alert("keyreeve: the response has no " .. name)
      return
    end
  end
  txn:set_var("txn.keyreeve_allowed", true)
end

core.register_action("keyreeve", { "http-req" }, function(txn, scope)
  local response = core.httpclient():get({
    url = verificationUrl(scope, txn:get_var("txn.keyreeve_cost"), txn:get_var("txn.keyreeve_only")),
    headers = verificationHeaders(txn),
    timeout = timeoutMs,
  })
  if response and response.status == 200 then
    allow(txn, response)
  elseif response and rejections[response.status] then
    reject(txn, response)
  end
end, 1)
