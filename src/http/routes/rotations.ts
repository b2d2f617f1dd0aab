import * as z from 'zod'
import type { KeyRotation, RotationStatus } from '../../key-rotation/key-rotation.js'
import { object, type Body } from '../protocol/body-schema.js'
import { json } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'

const path = '/log/rotations'
const fields = z
  .strictObject({
    key: z
      .string()
      .regex(/^[0-9a-f]{64}$/i, 'must be 64 hex digits')
      .optional()
      .describe('The next master key; without it a new one is made, which cannot be where VAULT_KEY is set'),
  })
  .meta({ id: 'NewRotation' })
/** Without a body the service generates a key. */
const body: Body<z.infer<typeof fields>> = {
  schema: fields,
  read: (sent) => (sent.json === undefined ? {} : object(fields, 'rotation').read(sent)),
}
const shown = z
  .object({
    from: z.string().describe('The id of the master key that is replaced'),
    to: z.string().describe('The id of the one that follows'),
    payloads: z.int().describe('How many payloads have been done'),
    position: z.int().nullable().describe('Position of the event that ended it; null before its end'),
    error: z.string().nullable().describe('Why it stopped before its end: the next POST goes on with it; null otherwise'),
  })
  .meta({ id: 'Rotation' })

const render = ({ from, to, payloads, position, error }: RotationStatus) => ({ from, to, payloads, position, error })

/** Replaces the master key while the service runs. The answer is sent when the rotation has begun. */
export const rotationRoutes = (rotation: KeyRotation): Route[] => [
  route({
    method: 'get',
    path,
    summary: 'The rotation of the master key that is under way, or the last one since the start',
    ofNode: true,
    answers: { 200: z.object({ rotation: shown.nullable() }) },
    async handle() {
      return json({ rotation: rotation.status ? render(rotation.status) : null })
    },
  }),
  route({
    method: 'post',
    path,
    summary: 'Replace the master key, or go on where an error stopped that; GET shows the progress',
    commandHeaders: ['Idempotency-Key'],
    body,
    answers: { 202: shown },
    async handle({ body: { key }, call }) {
      const begun = await rotation.begin(call.origin(), key === undefined ? undefined : Buffer.from(key, 'hex'))
      const { pathname, search } = call.address
      return json(render(begun), { status: 202, headers: { Location: pathname + search } })
    },
  }),
]
