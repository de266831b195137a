/**
 * Environment variables in which a build system passes its own tokens to a job. With one, a manifest could act for the
 * pipeline, so no run offers them. Upper case.
 */
const SYSTEM_TOKENS: readonly { readonly system: string; readonly variables: RegExp }[] = [
  {
    // Forgejo and Gitea run the actions of GitHub, with the same variables.
    system: 'GitHub',
    variables: /^((GITHUB|GH)(_ENTERPRISE)?_TOKEN|ACTIONS_(RUNTIME|ID_TOKEN_REQUEST)_TOKEN|(GITEA|FORGEJO)_TOKEN)$/,
  },
  {
    system: 'GitLab',
    variables:
      /^((EDGEWISE_)?GITLAB_TOKEN|CI_(JOB|BUILD)_TOKEN|CI_JOB_JWT(_V\d)?|CI_(REGISTRY|DEPLOY|DEPENDENCY_PROXY)_PASSWORD|CI_REPOSITORY_URL|CI_BUILD_REPO)$/,
  },
  {
    system: 'Azure Pipelines',
    variables:
      /^(SYSTEM_ACCESSTOKEN|AZURE_DEVOPS_EXT_PAT|VSS_NUGET_(ACCESSTOKEN|EXTERNAL_FEED_ENDPOINTS)|ARTIFACTS_CREDENTIALPROVIDER_.*|ENDPOINT_AUTH_.*)$/,
  },
  { system: 'Buildkite', variables: /^BUILDKITE_.*TOKEN$/ },
  { system: 'CircleCI', variables: /^CIRCLE_(.*_)?TOKEN(_V\d)?$/ },
  { system: 'Bitbucket', variables: /^BITBUCKET_.*TOKEN$/ },
  { system: 'Jenkins', variables: /^JENKINS_(.*_)?(TOKEN|SECRET)$/ },
  { system: 'Drone or Woodpecker', variables: /^((DRONE|CI)_NETRC_PASSWORD|(DRONE|WOODPECKER)_.*(TOKEN|SECRET))$/ },
  { system: 'Semaphore', variables: /^SEMAPHORE_.*TOKEN$/ },
  { system: 'Codefresh', variables: /^CODEFRESH_(.*_)?(KEY|TOKEN)$/ },
  { system: 'HCP Terraform', variables: /^(TFC_WORKLOAD_IDENTITY_TOKEN.*|TF_TOKEN_.*|ATLAS_TOKEN)$/ },
  { system: 'Spacelift', variables: /^SPACELIFT_.*(TOKEN|SECRET)$/ },
  { system: 'Atlantis', variables: /^ATLANTIS_.*(TOKEN|SECRET|PASSWORD|KEY)$/ },
];

/** Returns the build system whose token a variable has. Names of any case count, because Windows ignores it. */
export function findTokenSystem(name: string): string | undefined {
  return SYSTEM_TOKENS.find(({ variables }) => variables.test(name.toUpperCase()))?.system;
}
