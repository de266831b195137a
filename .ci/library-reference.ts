import { resolve } from 'node:path';
import type { FunctionDeclaration, Node, ParameterDeclaration } from 'typescript/unstable/ast';
import {
  isClassDeclaration,
  isFunctionDeclaration,
  isIdentifier,
  isInterfaceDeclaration,
  isMethodDeclaration,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';
import { API, type Project, SymbolFlags, type Symbol as TypeScriptSymbol } from 'typescript/unstable/sync';

/**
 * The part of docs/library.md that lists what the package exports, as the compiler reads it: every name, its type, the sentence above it. From the
 * compiler's own interface, since the tools for this do not read with the version of TypeScript that checks the sources.
 */
export function renderLibraryReference(): string {
  const api = new API({ cwd: resolve('.') });
  try {
    const config = resolve('.ci/tsconfig.lib.json');
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`${config} cannot be opened`);
    const main = listExports(project, 'src/index.ts');
    const ofStack = main.filter(({ file }) => file.startsWith('src/stack/'));
    return [
      ...renderSection(project, 'A whole stack', ofStack),
      ...renderSection(
        project,
        'The stages',
        main.filter((one) => !ofStack.includes(one)),
      ),
      ...renderSection(project, '`edgewise/server`', listExports(project, 'src/server/index.ts')),
      ...renderSection(project, '`edgewise/msw`', listExports(project, 'src/server/msw.ts')),
    ].join('\n\n');
  } finally {
    api.close();
  }
}

interface Export {
  readonly name: string;
  readonly doc: string;
  readonly declaration: Node;
  /** From the root of the repository. */
  readonly file: string;
}

function listExports(project: Project, file: string): readonly Export[] {
  const source = project.program.getSourceFile(resolve(file));
  const module = source === undefined ? undefined : project.checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} exports nothing`);
  return project.checker
    .getExportsOfModule(module)
    .map((symbol) => toExport(project, symbol))
    .sort((left, right) => (left.name.toLowerCase() < right.name.toLowerCase() ? -1 : 1));
}

function toExport(project: Project, exported: TypeScriptSymbol): Export {
  const isAlias = (exported.flags & SymbolFlags.Alias) !== 0;
  const symbol = isAlias ? project.checker.getAliasedSymbol(exported) : exported;
  const declaration = symbol.declarations?.[0]?.resolve(project);
  if (declaration === undefined) throw new Error(`${exported.name} is declared nowhere`);
  const file = declaration.getSourceFile().fileName.replace(`${resolve('.')}/`, '');
  const doc = project.checker.getDocumentationCommentOfSymbol(symbol);
  if (doc === '') throw new Error(`${exported.name} in ${file} has no sentence above it`);
  return { name: exported.name, doc, declaration, file };
}

function renderSection(project: Project, title: string, exports: readonly Export[]): readonly string[] {
  if (exports.length === 0) return [];
  const values = exports.filter(({ declaration }) => isValue(declaration));
  const types = exports.filter((one) => !values.includes(one));
  const functions = values.map(
    ({ name, doc, declaration }) => `- \`${toSignature(project, name, declaration)}\`: ${toProse(doc)}`,
  );
  const lists = [functions, types.map(renderType)].filter((list) => list.length > 0);
  return [`### ${title}`, ...lists.map((list) => list.join('\n'))];
}

function isValue(declaration: Node): boolean {
  return isFunctionDeclaration(declaration) || isVariableDeclaration(declaration);
}

function toSignature(project: Project, name: string, declaration: Node): string {
  if (isFunctionDeclaration(declaration)) return `${name}${toCall(project, declaration)}`;
  const type = isVariableDeclaration(declaration) ? declaration.type : undefined;
  return type === undefined ? name : `${name}: ${toText(type)}`;
}

function toCall(project: Project, { typeParameters, parameters, type }: FunctionDeclaration): string {
  const generics = typeParameters === undefined ? '' : `<${typeParameters.map(toText).join(', ')}>`;
  const taken = parameters.map((parameter) => toParameter(project, parameter));
  return `${generics}(${taken.join(', ')})${type === undefined ? '' : `: ${toText(type)}`}`;
}

/** How a function takes a parameter apart is its own business. */
function toParameter({ checker }: Project, parameter: ParameterDeclaration): string {
  const { name, type, initializer, questionToken } = parameter;
  const inferred = type === undefined ? checker.getTypeAtLocation(parameter) : undefined;
  const text =
    type === undefined ? (inferred === undefined ? 'unknown' : checker.typeToString(inferred)) : toText(type);
  const word = /^(?:Pick<|Omit<|readonly )?(\w+)/.exec(text)?.[1] ?? 'options';
  const shown = isIdentifier(name) ? toText(name) : `${word.charAt(0).toLowerCase()}${word.slice(1)}`;
  return `${shown}${initializer === undefined && questionToken === undefined ? '' : '?'}: ${text}`;
}

function renderType({ name, doc, declaration }: Export): string {
  const heritage = findHeritage(declaration);
  const head = (said: string) => `- **\`${name}\`**${said === '' ? '' : ` \`${said}\``}: ${toProse(doc)}`;
  const members = listMembers(declaration);
  if (members === undefined)
    return head(
      toText(declaration)
        .replace(/^export type \w+ /, '')
        .replace(/;$/, '')
        .replace(/^= \| /, '= '),
    );
  const lines = members.map(
    ({ label, type, about }) => `  - \`${label}: ${type}\`${about === '' ? '' : `: ${toProse(about)}`}`,
  );
  return [head(heritage), ...lines].join('\n');
}

interface Member {
  readonly label: string;
  readonly type: string;
  readonly about: string;
}

/** The members of an interface or a class; `undefined`: it is another type. */
function listMembers(declaration: Node): readonly Member[] | undefined {
  if (!isInterfaceDeclaration(declaration) && !isClassDeclaration(declaration)) return undefined;
  return [...declaration.members].flatMap((member): Member[] => {
    if (isMethodDeclaration(member)) return [];
    if (!isPropertySignatureDeclaration(member) && !isPropertyDeclaration(member)) return [];
    const optional = 'postfixToken' in member && member.postfixToken !== undefined ? '?' : '';
    const label = `${toText(member.name)}${optional}`;
    const type = member.type === undefined ? toText(member.initializer ?? member.name) : toText(member.type);
    return [{ label, type, about: findComment(member) }];
  });
}

function findHeritage(declaration: Node): string {
  if (!isInterfaceDeclaration(declaration) && !isClassDeclaration(declaration)) return '';
  return (declaration.heritageClauses ?? []).map(toText).join(' ');
}

/** The sentence above a member. */
function findComment(node: Node): string {
  const comment = /^\s*\/\*\*([\s\S]*?)\*\/\s*$/.exec(node.getFullText().slice(0, -node.getText().length));
  return (comment?.[1] ?? '').replaceAll(/^\s*\* ?/gm, '').trim();
}

/** On one line, without the comments inside. */
function toText(node: Node): string {
  return node
    .getText()
    .replaceAll(/\/\*\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** One paragraph, in which a `<` outside of code is no markup. */
function toProse(doc: string): string {
  return doc
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '\\<')))
    .join('');
}
