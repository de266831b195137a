/**
 * The environment variables by which programs that store secrets choose where: a server, an account, a project, a folder.
 * A command that receives tokens gets them, because without one it would store a token elsewhere. Names that end in `*`
 * are prefixes.
 */
const TOKEN_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  kubectl: ['KUBECONFIG', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT', 'KUBERNETES_MASTER'],
  helm: ['HELM_KUBE*', 'HELM_NAMESPACE'],
  vault: ['VAULT_ADDR', 'VAULT_AGENT_ADDR', 'VAULT_NAMESPACE', 'VAULT_PROXY_ADDR', 'VAULT_HTTP_PROXY'],
  bao: ['BAO_ADDR', 'BAO_AGENT_ADDR', 'BAO_NAMESPACE', 'BAO_PROXY_ADDR', 'BAO_HTTP_PROXY'],
  gh: ['GH_HOST', 'GH_REPO', 'GH_CONFIG_DIR'],
  glab: ['GITLAB_HOST', 'GITLAB_URI', 'GITLAB_API_HOST', 'GITLAB_REPO', 'GITLAB_GROUP', 'GL_HOST', 'GLAB_CONFIG_DIR'],
  docker: ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'CONTAINER_HOST', 'CONTAINER_CONNECTION'],
  gcloud: ['CLOUDSDK_*', 'GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_CLOUD_PROJECT', 'GCLOUD_PROJECT'],
  aws: [
    ...['AWS_PROFILE', 'AWS_DEFAULT_PROFILE', 'AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_ENDPOINT_URL*'],
    ...['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_ACCESS_KEY_ID', 'AWS_ROLE_ARN'],
  ],
  az: ['AZURE_CONFIG_DIR', 'AZURE_TENANT_ID', 'AZURE_SUBSCRIPTION_ID', 'AZURE_CLIENT_ID', 'AZURE_DEFAULTS_*'],
  pass: ['PASSWORD_STORE_DIR', 'PASSWORD_STORE_KEY', 'GNUPGHOME', 'GOPASS_HOMEDIR', 'GOPASS_CONFIG'],
  op: ['OP_CONNECT_HOST', 'OP_ACCOUNT'],
  bitwarden: ['BWS_SERVER_URL', 'BITWARDENCLI_APPDATA_DIR'],
  doppler: ['DOPPLER_API_HOST', 'DOPPLER_PROJECT', 'DOPPLER_CONFIG'],
  infisical: ['INFISICAL_API_URL', 'INFISICAL_DOMAIN'],
  conjur: ['CONJUR_APPLIANCE_URL', 'CONJUR_ACCOUNT'],
  sops: ['SOPS_AGE_RECIPIENTS', 'SOPS_PGP_FP', 'SOPS_KMS_ARN', 'SOPS_GCP_KMS_IDS', 'SOPS_VAULT_URIS'],
  hashicorp: ['CONSUL_HTTP_ADDR', 'CONSUL_NAMESPACE', 'NOMAD_ADDR', 'NOMAD_NAMESPACE', 'NOMAD_REGION'],
  configuration: ['XDG_CONFIG_HOME'],
  proxies: ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
};

const [PREFIXES, NAMES] = (() => {
  const all = Object.values(TOKEN_VARIABLES).flat();
  const prefixes = all.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return [prefixes, new Set(all)] as const;
})();

/** Lists the variables that are set and decide where a program stores a secret, sorted. Names only: values may be secret. */
export function listTokenVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const isListed = (name: string): boolean => NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
  // Proxies are also written in lower case.
  const set = Object.entries(env).filter(([name, value]) => (value ?? '') !== '' && isListed(name.toUpperCase()));
  return set.map(([name]) => name).sort();
}

/** Follows a clause such as `its token command gets`. */
export function formatTokenVariables(names: readonly string[]): string {
  return `${names.join(', ')} from the environment, which may decide where a token goes`;
}
