import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { repeatsPassword } from '../../support/connections/flood.js'
import { password } from '../../support/connections/postgres.js'
import { send, spawnService, temporaryDirectory } from '../../support/service.js'

test('nothing of the operator logs a user in: an empty password stays empty', async () => {
  const heard: string[] = []
  const server = await repeatsPassword((said) => heard.push(said))
  const [data, home] = [temporaryDirectory(), temporaryDirectory()]
  writeFileSync(join(home.path, '.pgpass'), `*:*:*:*:${password}\n`, { mode: 0o600 })
  const variables = { HOME: home.path, PGPASSFILE: join(home.path, '.pgpass'), PGPASSWORD: password, PGUSER: 'operator' }
  const own = await spawnService(data.path, variables, { cwd: home.path })
  try {
    const parameters = { host: '127.0.0.1', port: server.port, user: 'reader', password: '', database: 'shop', sslmode: 'disable' }
    const database = { name: 'pg', engine: 'postgres', parameters }
    const { body } = await send(own.url, 'POST', '/api/databases', { database, check_connection: true })
    expect(body).toMatchObject({ status: 'connection_error' })
    expect(heard).toEqual([''])
  } finally {
    own.child.kill()
    await own.ended
    await server.stop()
    for (const place of [data, home]) place.remove()
  }
})
