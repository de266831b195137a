# An ingress whose manifest is renamed, and an edge whose stack is renamed.
export EDGEWISE_BASE_URL=embedded:account.json
mkdir agents manifests
cat >agents/agents.yaml <<'YAML'
apiVersion: edgewise/v1
kind: Stack
metadata: { name: network }
---
apiVersion: edgewise/v1
kind: AgentIngress
metadata: { name: connect }
spec: { domain: connect.example.com }
YAML
cat >manifests/edge.yaml <<'YAML'
apiVersion: edgewise/v1
kind: Stack
metadata: { name: bazaar }
---
apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: postgres }
spec:
  hostports: ["1.tcp.example.net:20001"]
  backend: { backend_id: bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt }
YAML
edgewise apply agents --yes
edgewise apply manifests --yes
sed -i.bak 's|name: connect }|name: agents }|' agents/agents.yaml
echo 'lifecycle: { renamed_from: connect }' >>agents/agents.yaml
sed -i.bak 's|name: bazaar|name: shop, renamed_from: bazaar|' manifests/edge.yaml
