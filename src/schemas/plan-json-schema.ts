import { z } from 'zod';
import type { JsonObject } from '../model/json.ts';
import { PLAN_SCHEMA } from './plan.ts';

/** The published JSON Schema of plan files, draft 2020-12. */
export function toPlanJsonSchema(): JsonObject {
  return z.toJSONSchema(PLAN_SCHEMA, { io: 'input' }) as JsonObject; // the JSON Schema type has undefined in it, its values do not
}
