import type { Client } from '../../client/client.ts';
import { toListedResource } from '../../client/conform.ts';
import { ABUSE_REPORT } from '../../kinds/tables/abuse-report.ts';
import { ApiError, NetworkError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import { toRequestSchema } from '../../schemas/field.ts';
import { listFindings } from '../../schemas/findings.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** The body of a report. Throws, with everything that is wrong, when the service would not take it. */
export function toReportBody(urls: readonly string[], metadata: string | undefined): JsonObject {
  const body: JsonObject = { urls, ...(metadata !== undefined && { metadata }) };
  const findings = listFindings(toRequestSchema(ABUSE_REPORT, 'create'), body);
  if (findings.length === 0) return body;
  const lines = findings.map(({ path: [field], message }) => (field === 'urls' ? message : `--${field} ${message}`));
  throw new CommandError(lines.map(toPrintable).join('\n'), { exitCode: EXIT.invalid, remedy: 'Nothing was sent.' });
}

/** Submits a report, once, and returns it as the service shows it. Interrupted before it was sent, it is not sent. */
export async function submitReport(client: Client, body: JsonObject, signal: AbortSignal): Promise<JsonObject> {
  try {
    const answer = await client.send('POST', ABUSE_REPORT.path, body, { patience: signal });
    return toListedResource(ABUSE_REPORT, answer, { place: `POST ${ABUSE_REPORT.path}: the answer` }).json;
  } catch (error) {
    throw toSubmitError(error);
  }
}

function toSubmitError(error: unknown): unknown {
  if (error instanceof NetworkError) return error.isUnsent ? error : toUnknown(error);
  if (!(error instanceof ApiError)) return error;
  if (error.response.status === 403) return toForbidden(error);
  return error.response.status >= 500 ? toUnknown(error) : error;
}

/** There is no list of reports to look it up in, and the answer would have had its id. */
function toUnknown(error: ApiError | NetworkError): CommandError {
  return new CommandError(`It is not known whether the report was submitted. ${toPrintable(error.message)}`, {
    exitCode: EXIT.failed,
    remedy:
      'It was not sent again, since that could submit it twice, and reports cannot be listed. Ask the service whether it has a report of these URLs; if that is not possible, submit it again: the worst is a second report.',
    cause: error,
  });
}

/** Some services answer a bad key like this too. */
function toForbidden(error: ApiError): CommandError {
  return new CommandError(
    `The account of this API key lacks the permission to submit abuse reports. ${toPrintable(error.message)}`,
    {
      exitCode: EXIT.authentication,
      remedy:
        'Only accounts that the service has authorized for it have that permission: ask the service for it. On the bundled server, :abuse behind a key gives it. Where other commands are refused as well, it is the key that is wrong.',
      cause: error,
    },
  );
}
