import type { AnswerRow } from './postgres/rows.js'
import { answersOtherwise, keyIdsThere, keysOtherwise, notesThere, type OwnAnswer, type OwnKey } from './postgres/differences.js'
import type { Session } from './postgres/session.js'
import type { Replica } from './replica.js'
import { sharedNotes } from './written-rows.js'

const pageRows = 1_000

type OwnPayload = OwnKey & { id: number }

const takeNotes = async ({ db, rows }: ReturnType<Replica['open']>, session: Session): Promise<void> => {
  const notes = await notesThere(session, sharedNotes)
  db.transaction(() => rows.put({ notes, payloads: [], answers: [] }))()
}

const takeAnswers = async ({ db, rows }: ReturnType<Replica['open']>, session: Session): Promise<void> => {
  const page = db.prepare<[string, string], OwnAnswer>(
    `SELECT actor, key, answer FROM answers WHERE (actor, key) > (?, ?) ORDER BY actor, key LIMIT ${pageRows}`,
  )
  const remove = db.prepare<[string, string]>('DELETE FROM answers WHERE actor = ? AND key = ?')
  for (let mine = page.all('', ''); mine.length > 0;) {
    const others = await answersOtherwise(session, mine)
    const answers = others.flatMap(({ there }): AnswerRow[] => (there ? [there] : []))
    db.transaction(() => {
      for (const { actor, key, there } of others) if (!there) remove.run(actor, key)
      rows.put({ answers, payloads: [], notes: [] })
    })()
    const last = mine.at(-1)
    mine = last ? page.all(last.actor, last.key) : []
  }
}

const takeKeys = async ({ db }: ReturnType<Replica['open']>, session: Session): Promise<void> => {
  const own = db.prepare<[], string>('SELECT DISTINCT key_id FROM payloads WHERE wrapped IS NOT NULL').pluck().all()
  // Only a rotation of the master key wraps keys anew.
  if (new Set([...own, ...(await keyIdsThere(session))]).size <= 1) return
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
 * Makes the rows of a file that are no events those of the shared log again, where it has other ones: PostgreSQL may have lost batches
 * without events. Rows that only the log has are left for the way that everything comes by.
 */
export const takeBack = async (replica: Replica, session: Session): Promise<void> => {
  const open = replica.open()
  await takeNotes(open, session)
  await takeKeys(open, session)
  await takeAnswers(open, session)
}
