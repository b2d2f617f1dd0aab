import { expect, test } from '@jest/globals'
import pg from 'pg'
import { declaredColumns } from '../../../src/connections/engines/postgres/metadata.js'

/** A server whose catalogue lacks some words, and the statements that it answered. */
const serverWithout = (...lacking: readonly string[]) => {
  const answered: string[] = []
  const query = (asked: pg.Query): void => {
    const text = String(Reflect.get(asked, 'text'))
    if (lacking.some((word) => text.includes(word))) {
      const refused = new pg.DatabaseError('it does not exist', 0, 'error')
      asked.emit('error', Object.assign(refused, { severity: 'ERROR', code: '42703' }))
      return
    }
    answered.push(text)
    asked.emit('row', ['id', 'integer', 't', '0', 't', 'UTF8', 'f', null, 'f'])
    asked.emit('end')
  }
  return { client: { query } as unknown as pg.Client, answered }
}

test('a server is asked whether it checks NOT NULL if its catalogue tells that, whether or not it has exact collations', async () => {
  const asked = async (...lacking: string[]) => {
    const { client, answered } = serverWithout(...lacking)
    expect(await declaredColumns(client, 't')).toEqual([{ name: 'id', remote: 'integer', nullable: false, dimensions: 0, exactText: true }])
    return ['collisdeterministic', 'pg_constraint'].map((word) => answered[0]?.includes(word))
  }
  expect(await asked()).toEqual([true, true])
  // PostgreSQL 11 and earlier.
  expect(await asked('collisdeterministic')).toEqual([false, true])
  expect(await asked('pg_inherits')).toEqual([true, false])
  expect(await asked('collisdeterministic', 'pg_inherits')).toEqual([false, false])
})
