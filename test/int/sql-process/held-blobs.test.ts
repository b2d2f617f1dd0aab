import { expect, test } from '@jest/globals'
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SqlProcess } from '../../../src/sql-process/sql-process.js'
import { isProblem, Problem } from '../../../src/basics/errors.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { Blobs } from '../../../src/files/blobs.js'
import { convert } from '../../../src/files/ingest/convert.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { prepareDataDirectory } from '../../../src/setup/data-directory.js'
import { masterKeys } from '../../../src/vault/key-files.js'
import { Vault } from '../../../src/vault/vault.js'
import { origin, temporaryDirectory } from '../../support/log/log.js'
import { until } from '../../support/until.js'

test('where the folder is not whole, a query has the files of its blobs for as long as it runs', async () => {
  const { path, remove } = temporaryDirectory()
  const paths = prepareDataDirectory(path)
  const vault = new Vault(...masterKeys(paths, []))
  const log = new SqliteLog({ file: paths.log, vault })
  const elsewhere = new Blobs(join(path, 'elsewhere'))
  const held = new Map<string, number>()
  const asked: string[] = []
  let failure: Problem | undefined
  // A file is there only while somebody holds it: the most that a cache may take away.
  const holdBlob = async (sha: string) => {
    asked.push(sha)
    if (failure) throw failure
    const { file } = await elsewhere.hold(sha)
    const here = join(paths.blobs, sha)
    held.set(sha, (held.get(sha) ?? 0) + 1)
    if (!existsSync(here)) copyFileSync(file, here)
    const release = () => {
      const users = (held.get(sha) ?? 0) - 1
      held.set(sha, users)
      if (users === 0) rmSync(here)
    }
    return { file: here, release }
  }
  // A busy machine may start the process slowly.
  const limits = { startWaitMs: 20 * 60_000 }
  const sqlProcess = await SqlProcess.start({ dataDirectory: path, masterKeys: () => vault.keys(), holdBlob, limits })
  try {
    mkdirSync(join(path, 'work'))
    const source = join(path, 'work', 'homes.csv')
    writeFileSync(source, 'size,rent\n10,100\n20,200\n')
    const table = await convert({
      ...{ source, originalName: 'homes.csv', onBadRows: 'refuse', workDirectory: join(path, 'work'), memoryBytes: 2 ** 30 },
    })
    const content = await elsewhere.put(table.parquetFile)
    const ledger = new Ledger(log, vault)
    const command = (file: string, hash: string) => ({
      type: 'CreateFile' as const,
      data: { file, content: { content: hash, bytes: table.bytes, row_count: 2, columns: table.columns, original_name: null } },
    })
    await ledger.execute(command('homes', content), origin)
    await ledger.execute(command('lost', 'f'.repeat(64)), origin)
    const { position: upTo } = await log.head()
    const ask = async (sql: string): Promise<unknown[]> => {
      const { rows } = await sqlProcess.query({ sql, db: 'mindsdb', defaultProject: 'mindsdb', upTo })
      const all: unknown[] = []
      for await (const chunk of rows) all.push(...(JSON.parse(`[${chunk.toString()}]`) as unknown[]))
      return all
    }
    const refusal = (sql: string) =>
      ask(sql).then(
        () => undefined,
        (error: unknown) => (isProblem(error) ? error.code : error),
      )
    const isReleased = () => held.get(content) === 0 && !existsSync(join(paths.blobs, content))

    // The second time the text is one that was rewritten before.
    for (let time = 1; time <= 3; time++) {
      expect(await ask('SELECT a.rent FROM files.homes AS a JOIN files.homes AS b ON a.size = b.size ORDER BY 1')).toEqual([[100], [200]])
      await until(isReleased)
      expect(asked).toEqual(Array.from({ length: time }, () => content))
    }
    expect(await Promise.all(Array.from({ length: 10 }, (_, i) => ask(`SELECT count(*) + ${i} FROM files.homes`)))).toHaveLength(10)
    await until(isReleased)
    expect(await refusal('SELECT * FROM files.lost')).toBe('query_failed')
    failure = new Problem('storage_failed', 'Blob store away', 'the store is away')
    expect(await refusal('SELECT * FROM files.homes')).toBe('storage_failed')
    expect(await ask('SELECT 1')).toEqual([[1]])
  } finally {
    await sqlProcess.stop()
    await log.close()
    remove()
  }
})
