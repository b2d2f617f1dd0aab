import type { DataErased } from '../../../events/log.js'
import { problemCatalogue } from '../../basics/errors.js'
import type { Reply } from '../contract/log.js'
import type { Connection } from '../storage/schema.js'

const { status } = problemCatalogue.erased

/** The answer to a request whose stored answer was erased: carrying it out again would have a second effect. */
export const erasedReply: Reply = {
  status,
  type: 'application/problem+json; charset=utf-8',
  etag: null,
  body: JSON.stringify({
    type: 'about:blank',
    title: 'Erased',
    status,
    detail: 'the answer that was kept for this Idempotency-Key was erased with the rows that it may have had',
    hint: 'Send the request with a new key.',
    code: 'erased',
  }),
}

/**
 * Removes the stored answers that show rows, in the transaction of the erasure: those of SQL that returned predictions. An answer to
 * a command has the command's stream and shows a resource; it stays, as do all answers without rows.
 */
export const prepareEraseReplies = (db: Connection): ((erasure: DataErased) => void) => {
  const replace = db.prepare<[string]>(
    `UPDATE answers SET answer = json_set(answer, '$.reply', json(?)) WHERE answer ->> '$.reply.rows' AND answer ->> '$.stream' IS NULL`,
  )
  return ({ what }) => {
    if (what !== 'secrets') replace.run(JSON.stringify(erasedReply))
  }
}
