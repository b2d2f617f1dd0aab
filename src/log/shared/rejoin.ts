import { atOnce } from '../../basics/long-work.js'
import { answersOtherwise, keysOtherwise, notesThere, type OwnAnswer, type OwnKey } from './postgres/differences.js'
import type { AnswerRow } from './postgres/rows.js'
import type { SharedLogSession } from './postgres/shared-log-session.js'
import { masterKeyIds } from '../storage/keys.js'
import type { Replica } from './replica.js'
import type { Sequencer } from './sequencer.js'
import { sharedNotes } from './written-rows.js'

const pageRows = 1_000

type OwnPayload = OwnKey & { id: number }

const takeNotes = async ({ db, rows }: ReturnType<Replica['open']>, session: SharedLogSession): Promise<void> => {
  const notes = await notesThere(session, sharedNotes)
  db.transaction(() => atOnce(rows.put({ notes, payloads: [], answers: [] })))()
}

const takeAnswers = async ({ db, rows }: ReturnType<Replica['open']>, session: SharedLogSession): Promise<void> => {
  const page = db.prepare<[string, string], OwnAnswer>(
    `SELECT actor, key, answer FROM answers WHERE (actor, key) > (?, ?) ORDER BY actor, key LIMIT ${pageRows}`,
  )
  const remove = db.prepare<[string, string]>('DELETE FROM answers WHERE actor = ? AND key = ?')
  for (let mine = page.all('', ''); mine.length > 0;) {
    const others = await answersOtherwise(session, mine)
    const answers = others.flatMap(({ there }): AnswerRow[] => (there ? [there] : []))
    db.transaction(() => {
      for (const { actor, key, there } of others) if (!there) remove.run(actor, key)
      atOnce(rows.put({ answers, payloads: [], notes: [] }))
    })()
    const last = mine.at(-1)
    mine = last ? page.all(last.actor, last.key) : []
  }
}

const takeKeys = async ({ db }: ReturnType<Replica['open']>, session: SharedLogSession): Promise<void> => {
  const own = db.prepare<[], string>('SELECT DISTINCT key_id FROM payloads WHERE wrapped IS NOT NULL').pluck().all()
  // Only a rotation of the master key wraps keys again, and the notes tell of it. The file already has the notes of the shared log.
  if (new Set([...own, ...masterKeyIds(db)]).size <= 1) return
  const page = db.prepare<[number], OwnPayload>(
    `SELECT id, hash, key_id AS keyId FROM payloads WHERE id > ? AND wrapped IS NOT NULL ORDER BY id LIMIT ${pageRows}`,
  )
  const change = db.prepare<[string, Buffer, string]>('UPDATE payloads SET key_id = ?, wrapped = ? WHERE hash = ?')
  for (let mine = page.all(0); mine.length > 0; mine = page.all(mine.at(-1)?.id ?? Infinity)) {
    const others = await keysOtherwise(session, mine)
    db.transaction(() => {
      for (const { hash, keyId, wrapped } of others) change.run(keyId, wrapped, hash)
    })()
  }
}

/**
 * Replaces the rows of a file that are not events and differ from those of the shared log: PostgreSQL may have lost batches without
 * events. The shared log may have rows that the file lacks; they come later, with `since`.
 */
const takeBack = async (replica: Replica, session: SharedLogSession): Promise<void> => {
  const open = replica.open()
  await takeNotes(open, session)
  await takeKeys(open, session)
  await takeAnswers(open, session)
}

/**
 * Reconnects a file that has the shared log's events but not its last batch: a restored backup, or a file whose batches were lost in a
 * failover, or lost and appended again under other numbers. Rows that only the file has go. It fetches everything but events again,
 * starting at the batch of its last event. Returns false when the shared log does not have its events.
 *
 * @example if (!(await rejoin(replica, sequencer))) throw forked
 * @throws UnreachableError; RangeError when what others wrote does not follow from the file
 */
export const rejoin = async (replica: Replica, sequencer: Sequencer): Promise<boolean> => {
  const { position, chain } = replica.place
  let seq = await sequencer.batchOf(position, chain)
  if (seq === undefined) return false
  await sequencer.ask((session) => takeBack(replica, session))
  for (;;) {
    const { place } = replica
    const { rows, to, newest } = await sequencer.since(seq, place.position)
    await replica.take({ rows, to: to.position > place.position ? to : { ...place, seq: to.seq, batch: to.batch }, newest })
    if (to.seq >= newest) return true
    seq = to.seq
  }
}
