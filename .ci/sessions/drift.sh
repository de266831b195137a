# A stack with an edge that another user changed and opened, one that is not applied yet, and one whose manifest changed. Another edge is unmanaged.
export EDGEWISE_BASE_URL=embedded:account.json
cat >account.json <<'JSON'
{ "resources": { "TCPEdge": [{ "id": "edgtcp_3ALKRDJGD5v0k1wQmB7sHcYfJ2d", "hostports": ["1.tcp.example.net:20009"] }] } }
JSON
edge() {
  printf -- '---\napiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: %s }\n' "$1"
  printf 'spec:\n  description: %s\n  hostports: ["%s"]\n' "$2" "$3"
  printf '  backend: { backend_id: bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt }\n'
}
mkdir manifests
{
  printf 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: production }\n'
  edge postgres 'Postgres for the data team' 1.tcp.example.net:20001
  printf '  ip_restriction: { ip_policy_ids: [ipp_2k9XLR3nGNPfyoIk0A3yD8vPq7M] }\n'
  edge mysql 'MySQL for the shop' 1.tcp.example.net:20002
} >manifests/edges.yaml
edgewise apply manifests --yes
sed -i.bak 's|Postgres for the data team|by hand|' account.json
node -e '
const account = JSON.parse(fs.readFileSync("account.json", "utf8"));
for (const edge of account.resources.TCPEdge) if (edge.description === "by hand") edge.ip_restriction = null;
fs.writeFileSync("account.json", JSON.stringify(account));
'
sed -i.bak 's|1.tcp.example.net:20002|1.tcp.example.net:20003|' manifests/edges.yaml
edge redis 'Redis for the shop' 1.tcp.example.net:20004 >>manifests/edges.yaml
