import { createManifestEnvironment, type ManifestEnvironment } from '../manifest/environment.ts';
import { type ManifestBytes, parseAddressesForCompletion, visitManifestFiles } from '../manifest/load.ts';
import { checkFileForFirstError } from '../manifest/validate.ts';
import { type Address, getAddressName } from '../model/address.ts';
import { KEY_VARIABLE } from '../model/api-key.ts';
import {
  createNearestFolderSearch,
  type FileWithoutStack,
  type StackFolder,
  type StackTree,
  type TakingOverStack,
  type UnreadableManifest,
} from '../model/stack-tree.ts';
import { isEmbedded } from '../settings/base-url.ts';
import { createAccountKeyContainingSecret, findApiKey } from '../stack/account-key.ts';
import { type Host, StackError } from '../stack/host.ts';
import { loadStackManifestSources } from '../stack/load-stack.ts';

/** Matches words that can be the name of a stack or a resource. */
const WORD = /[\w.-]+/g;

/**
 * Finds the stack of the tree that takes over a resource of the stack `folder`. If there is none, returns a stack that
 * may do so, with a `doubt`, because the resource must not be deleted by mistake. `undefined` if there is no such stack
 * either.
 */
export function findPossibleTakeOverStack(
  folder: StackFolder,
  asked: TakerQuery,
  context: TreeContext,
): TakingOverStack | undefined {
  return findNamedTaker(folder, asked, context) ?? findMistakenTaker({ folder, ...asked, context });
}

interface TakerQuery {
  readonly tree: StackTree;
  readonly address: Address;
}

/** The first search of `findTaker`. It does not search the text of files with errors. */
function findNamedTaker(
  folder: StackFolder,
  { tree, address }: TakerQuery,
  context: TreeContext,
): TakingOverStack | undefined {
  const others = tree.stacks.filter((other) => other !== folder);
  const takers = [
    ...others.flatMap((other) => listTakers(other, { folder, tree, address, context })),
    ...tree.strays.flatMap((stray) => listStrayTakers(stray, folder, address)),
  ];
  return takers.find(({ doubt }) => doubt === undefined) ?? takers[0];
}

type TreeContext = Pick<Host, 'env' | 'cwd' | 'uid'> & Partial<Pick<Host, 'offered' | 'root'>>;

/** Finds an invalid file that may be meant to take over the resource, because it may name the stack and the resource. */
function findMistakenTaker(subject: Subject): TakingOverStack | undefined {
  const { folder, tree, address, context } = subject;
  const found = listMistaken(tree, context).find(
    ({ owner, unread }) =>
      owner !== folder &&
      mayTakeOver([unread], folder, address) &&
      (owner === undefined || computeRelation(owner, subject) !== 'other account'),
  );
  return found && { stack: found.owner?.name ?? '', doubt: found.unread.why };
}

interface Mistaken {
  /** `undefined` if the file belongs to no stack. */
  readonly owner: StackFolder | undefined;
  readonly unread: UnreadableManifest;
}

/**
 * Maps a tree to its files with errors. A tree is searched for them at most once, and only if a plan deletes a resource
 * that no valid manifest takes over.
 */
const MISTAKEN = new WeakMap<StackTree, readonly Mistaken[]>();

function listMistaken(tree: StackTree, context: TreeContext): readonly Mistaken[] {
  const known = MISTAKEN.get(tree);
  if (known !== undefined) return known;
  const mistaken: Mistaken[] = [];
  const env = createManifestEnvironment(context);
  const owners = new Map(tree.stacks.map((stack) => [stack.folder, stack]));
  const findOwner = createNearestFolderSearch(owners.keys());
  visitManifestFiles(tree.root, context, ({ file, folder, bytes }) => {
    const unread = findManifestFileError({ file, bytes }, env);
    if (unread !== undefined) mistaken.push({ owner: owners.get(findOwner(folder) ?? ''), unread });
  });
  MISTAKEN.set(tree, mistaken);
  return mistaken;
}

/**
 * Returns the error in a file, with all words of the file, because the error may be a misspelled key or kind.
 * `undefined` if the file has no error.
 */
export function findManifestFileError(
  { file, bytes }: ManifestBytes,
  env: ManifestEnvironment,
): UnreadableManifest | undefined {
  const error = checkFileForFirstError({ file, bytes }, { env });
  if (error === undefined) return undefined;
  const text = Buffer.from(bytes).toString('utf8');
  // If a variable is not set, the file could contain any name.
  const isOpen = error.code.startsWith('env-') && text.includes('renamed_from');
  return { why: `${file} has a mistake: ${error.message}`, ...(!isOpen && { words: new Set(text.match(WORD)) }) };
}

interface Subject extends TakerQuery {
  readonly folder: StackFolder;
  readonly context: TreeContext;
}

function listTakers(other: StackFolder, subject: Subject): readonly TakingOverStack[] {
  const { folder, address } = subject;
  const found = other.takes.find((one) => one.stack === folder.name && one.resource === address);
  if (found === undefined && !mayTakeOver(other.unread, folder, address)) return [];
  const relation = computeRelation(other, subject);
  if (relation === 'other account') return [];
  const doubt = relation === 'same account' ? other.unread?.[0]?.why : relation.doubt;
  return [
    {
      stack: other.name,
      folder: other.folder,
      ...(found !== undefined && { as: found.as }),
      ...(doubt !== undefined && { doubt }),
    },
  ];
}

/**
 * Returns a taker if a manifest that belongs to no stack takes over the resource. The taker has a `doubt`, because the
 * manifest may belong to a stack whose `Stack` document cannot be read.
 */
function listStrayTakers(
  { file, takes }: FileWithoutStack,
  folder: StackFolder,
  address: Address,
): readonly TakingOverStack[] {
  const takesOver = takes.some(({ stack, resource }) => stack === folder.name && resource === address);
  return takesOver ? [{ stack: '', doubt: `${file} belongs to no stack` }] : [];
}

/**
 * Whether an unreadable manifest may take over the resource: the manifest's words are unknown, or include the names of
 * the stack and of the resource.
 */
function mayTakeOver(unread: readonly UnreadableManifest[] = [], { name }: StackFolder, address: Address): boolean {
  return unread.some(({ words }) => words === undefined || (words.has(name) && words.has(getAddressName(address))));
}

type Relation = 'same account' | 'other account' | { readonly doubt: string };

function computeRelation(other: StackFolder, { folder, tree, context }: Subject): Relation {
  if (other.serviceId !== folder.serviceId) return compareBaseUrls(other, folder, tree);
  const [own, others] = [folder, other].map((one) => createAccountKeyContainingSecret(one, context));
  if (own === others) return 'same account';
  const areKnown = [folder, other].every((one) => findApiKey(one, context) !== undefined);
  const variable = `${other.keyEnv ?? KEY_VARIABLE}, the variable of its API key,`;
  return { doubt: `${variable} ${areKnown ? 'holds another key, perhaps of the same account' : 'is not set'}` };
}

/**
 * Relates two stacks with different base URLs: the taker of a resource, and the owner of the resource. The taker refers
 * to the owner only by name. If a stack with this name exists at the taker's base URL, the taker means that stack, so
 * the owner is in another account.
 */
function compareBaseUrls({ baseUrl, serviceId }: StackFolder, { name }: StackFolder, { stacks }: StackTree): Relation {
  if (baseUrl === undefined || !isUrl(baseUrl)) return { doubt: `its base URL is ${baseUrl ?? 'not known'}` };
  if (stacks.some((one) => one.name === name && one.serviceId === serviceId)) return 'other account';
  return { doubt: `it is at ${baseUrl}, where no stack is called ${name}` };
}

function isUrl(text: string): boolean {
  return isEmbedded(text) || URL.canParse(text);
}

/**
 * Rejects if the stack takes over a resource that a manifest of the old stack still describes: the old stack would
 * create the resource again.
 */
export async function refuseTakeOverWithOldManifest(
  folder: StackFolder,
  { stacks }: StackTree,
  context: Pick<Host, 'cwd' | 'uid' | 'env' | 'render'>,
): Promise<void> {
  for (const { stack, resource } of folder.takes) {
    const other = stacks.find(({ name, serviceId }) => name === stack && serviceId === folder.serviceId);
    if (other === undefined || other === folder) continue;
    const { sources } = await loadStackManifestSources([other.folder], {
      ...context,
      readStdin: async () => new Uint8Array(),
    });
    if (!parseAddressesForCompletion(sources, () => false).includes(resource)) continue;
    const message = `${folder.name} takes over ${resource} of the stack ${stack}, and a document in ${other.folder} still describes it.`;
    const remedy = 'Remove that document: only the stack that takes a resource over describes it.';
    throw new StackError(message, { reason: 'invalid', remedy });
  }
}
