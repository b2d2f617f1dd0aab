import { afterEach, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { processTree } from '../support/processes.js'
import { spawnService, sql, temporaryDirectory } from '../support/service.js'
import { until } from '../support/until.js'

const key = 'ab'.repeat(32)
const directory = temporaryDirectory()
afterEach(() => directory.remove())

const partsOf = (pid: number, file: 'cmdline' | 'environ'): string[] => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0')
  } catch {
    // It has just ended.
    return []
  }
}

const testOnLinux = process.platform === 'linux' ? test : test.skip

testOnLinux('no process beside the service has its environment, in which its master key may be', async () => {
  const { child, url, ended } = await spawnService(directory.path, { VAULT_KEY: key })
  const holdsKey = new Map<string, boolean>()
  const look = (): void => {
    for (const pid of processTree(child.pid ?? 0)) {
      const program = partsOf(pid, 'cmdline').find((part) => part.endsWith('-process.js'))
      const environment = partsOf(pid, 'environ')
      if (program !== undefined && environment.length > 1)
        holdsKey.set(
          basename(program),
          environment.some((part) => part.includes(key)),
        )
    }
  }
  const looking = setInterval(look, 10)
  try {
    await sql(url, 'CREATE TABLE files.homes (SELECT range AS size, 3 * range + range % 7 AS rent FROM range(20000))')
    await sql(url, 'CREATE MODEL rent FROM files (SELECT * FROM homes) PREDICT rent')
    await sql(url, 'CREATE KNOWLEDGE_BASE notes')
    await sql(url, "INSERT INTO notes (id, content) VALUES ('1', 'a house')")
    await until(async () => {
      // A training may come and go while this process is held up: then another one is looked at. One at a time is taken.
      if (!holdsKey.has('train-process.js')) await sql(url, 'RETRAIN rent')
      return ['sql-process.js', 'train-process.js', 'knowledge-process.js'].every((name) => holdsKey.has(name))
    })
  } finally {
    clearInterval(looking)
    child.kill('SIGTERM')
    await ended
  }
  expect([...holdsKey].filter(([, holds]) => holds)).toEqual([])
})
