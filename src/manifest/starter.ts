import { stringify } from 'yaml';

interface StarterOptions {
  readonly stack: string;
  /** `undefined` if the URL comes from the environment or a flag. */
  readonly baseUrl: string | undefined;
  /** Whether a Defaults applies to the stack. The Stack then needs only its name. */
  readonly hasDefaults: boolean;
  /** The schema for editors, as a path relative to the files or as a URL. */
  readonly schema: string;
}

/** `path` is relative to the folder of the new stack. */
interface StarterFile {
  readonly path: string;
  readonly text: string;
}

/** Creates the files of a new stack: its settings, and an example with comments. Both are valid without changes. */
export function createStarter({ stack, baseUrl, hasDefaults, schema }: StarterOptions): readonly StarterFile[] {
  const modeline = `# yaml-language-server: $schema=${schema}\n`;
  const settings = {
    apiVersion: 'edgewise/v1',
    kind: 'Stack',
    metadata: { name: stack },
    spec: baseUrl === undefined ? undefined : { api: { base_url: baseUrl } },
  };
  const whole = `${modeline}${STACK_COMMENT}${stringify(settings)}${baseUrl === undefined ? NO_URL : ''}`;
  return [
    { path: 'edgewise.yaml', text: hasDefaults && baseUrl === undefined ? renderShortStack(stack) : whole },
    { path: 'example.yaml', text: `${modeline}${EXAMPLE}` },
    {
      path: IGNORE_FILE,
      text: `# Tokens of new credentials, with \`tokens: { default: { directory: tokens } }\` in the Stack.\n${TOKENS_IGNORED}\n`,
    },
  ];
}

/** Keeps the tokens of new credentials out of git. */
export const IGNORE_FILE = '.gitignore';
export const TOKENS_IGNORED = '/tokens/';

function renderShortStack(name: string): string {
  // Quoted if YAML would read the name as another type, such as `null` or `17`.
  return `apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: ${stringify(name).trimEnd()} }\n`;
}

const STACK_COMMENT = `# The stack: the manifests in this folder, under one name. The name is part of the mark on every resource that they describe, so no
# other folder may use it for the same account.
`;

const NO_URL = `# spec:
#   api:
#     base_url: https://api.example.com # or EDGEWISE_BASE_URL
`;

const EXAMPLE = `# An example to change or delete. \`edgewise explain TCPEdge\` has every field.
# Variables of the environment: \${env:NAME}, offered with --env NAME. Secrets in headers: \${secret:NAME}, with --secret NAME.
apiVersion: edgewise/v1
kind: TCPEdge
metadata:
  name: example # with its kind the address, TCPEdge/example: a new name is a new resource
spec:
  description: An example
  # Where it listens. Reserve the address at the service first.
  hostports:
    - 1.tcp.example.net:20001
  # Where connections go: an id, or Kind/name of a resource in these manifests.
  backend:
    backend_id: bkdtg_2k9XLPDYGXNLtxcTVgVsKTFzfRt
  # Who may connect: ids of IP policies.
  # ip_restriction:
  #   ip_policy_ids: [External/office]
# lifecycle:
#   protect: true # never deleted or replaced, even if this file is removed
`;
