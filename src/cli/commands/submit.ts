import type { Client } from '../../client/client.ts';
import { toListedResource } from '../../client/conform.ts';
import type { SubmittedKind } from '../../kinds/kind.ts';
import { toIndefinite } from '../../kinds/submission.ts';
import { ApiError, NetworkError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import { toRequestSchema } from '../../schemas/field.ts';
import { listFindings } from '../../schemas/findings.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** The body of a submission. Throws, with everything that is wrong, when the service would not take it. */
export function toSubmissionBody(kind: SubmittedKind, body: JsonObject): JsonObject {
  const findings = listFindings(toRequestSchema(kind, 'create'), body);
  if (findings.length === 0) return body;
  const { words } = kind.submission;
  const lines = findings.map(({ path: [field], message }) => (field === words ? message : `--${field} ${message}`));
  throw new CommandError(lines.map(toPrintable).join('\n'), { exitCode: EXIT.invalid, remedy: 'Nothing was sent.' });
}

/** Submits something, once, and returns it as the service shows it. An interrupt before it is sent stops it. */
export async function submit(
  client: Client,
  { kind, body }: { readonly kind: SubmittedKind; readonly body: JsonObject },
  signal: AbortSignal,
): Promise<JsonObject> {
  try {
    const answer = await client.send('POST', kind.path, body, { patience: signal });
    return toListedResource(kind, answer, { place: `POST ${kind.path}: the answer` }).json;
  } catch (error) {
    throw toSubmitError(kind, error);
  }
}

function toSubmitError(kind: SubmittedKind, error: unknown): unknown {
  if (error instanceof NetworkError) return error.isUnsent ? error : toUnknown(kind, error);
  if (!(error instanceof ApiError)) return error;
  if (error.response.status === 403) return toForbidden(kind, error);
  return error.response.status >= 500 ? toUnknown(kind, error) : error;
}

/** There is no list to look it up in, and the answer would have had its id. */
function toUnknown({ submission: { noun }, title }: SubmittedKind, error: ApiError | NetworkError): CommandError {
  return new CommandError(`It is not known whether the ${noun} was submitted. ${toPrintable(error.message)}`, {
    exitCode: EXIT.failed,
    remedy: `It was not sent again, because that could submit it twice, and the service cannot list ${title}s. Ask the service whether it has ${toIndefinite(noun)} like this. If you cannot find out, submit it again: the worst outcome is a second ${noun}.`,
    cause: error,
  });
}

/** Some services answer a bad key like this too. */
function toForbidden({ title }: SubmittedKind, error: ApiError): CommandError {
  return new CommandError(
    `The account of this API key lacks the permission to submit ${title}s. ${toPrintable(error.message)}`,
    {
      exitCode: EXIT.authentication,
      remedy:
        'The service gives this permission to some accounts only: ask for it. On the bundled server it is a right of the key: see --api-key in edgewise help serve. If other commands are refused too, the key is wrong.',
      cause: error,
    },
  );
}
