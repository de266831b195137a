-- What the clients of wrk ask for: `wrk … -s many-clients.lua URL -- WORK KEY LABEL`. The server holds a hundred edges or more, whose ids
-- are their numbers. Prints one line of JSON: how many requests were answered in how long, and how long single ones took.

local PATH = "/edges/tcp"
-- More than there are clients.
local IN_USE = 100
local turn, made, headers, label = 0, {}, {}, ""
local next_request

local function send(method, path, body)
  return wrk.format(method, path, headers, body)
end

local function pick()
  return string.format("%s/edgtcp_%027d", PATH, turn % 100)
end

local function change(path)
  return send("PATCH", path, string.format('{"description":"turn %d"}', turn))
end

local function create()
  return send("POST", PATH, string.format('{"description":"%s %d","hostports":["%s-%d.example.net:443"]}', label, turn, label, turn))
end

local function get()
  return send("GET", pick())
end

local function list()
  return send("GET", PATH .. "?limit=100")
end

-- An edge that this run made, if its creation is answered already.
local function newest()
  return made[#made] or pick()
end

-- One that no request which is on its way asks for.
local function remove()
  return #made > IN_USE and send("DELETE", table.remove(made, 1)) or get()
end

-- What happens to an edge, with a page of the list: ten requests.
local MIXED = {
  create, get, get, get, get, get,
  function() return change(newest()) end,
  function() return send("GET", newest()) end,
  list,
  remove,
}

local WORKS = {
  get = get,
  list = list,
  change = function() return change(pick()) end,
  create = create,
  mixed = function() return MIXED[turn % #MIXED + 1]() end,
}

function init(args)
  local work, key
  work, key, label = args[1], args[2], args[3]
  next_request = WORKS[work]
  headers = { ["Authorization"] = "Bearer " .. key, ["Service-Version"] = "2", ["Content-Type"] = "application/json" }
  if work == "mixed" then
    response = function(status, _, body)
      if status == 201 then made[#made + 1] = PATH .. "/" .. body:match('"id":"([^"]+)"') end
    end
  end
end

function request()
  turn = turn + 1
  return next_request()
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  print(string.format('{"answered":%d,"failed":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f}', summary.requests, failed,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
