import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from '@jest/globals'
import { connectAllowed } from '../../../src/egress/tcp-connection.js'
import { parseEgress } from '../../../src/egress/policy.js'
import { resolveAllowed } from '../../../src/egress/resolve.js'
import { egressOf } from '../../../src/egress/settings.js'
import { sharedLookup, type NameLookup } from '../../../src/egress/shared-lookup.js'
import { readConfig } from '../../../src/setup/config.js'
import { freePort } from '../../support/cli.js'
import { until } from '../../support/until.js'

const closed = parseEgress('', { loopback: false })

/** A resolver that knows these names only, and counts how often it is asked. */
const resolver = (names: Record<string, readonly string[]>): { lookup: NameLookup; asked: () => number } => {
  let asked = 0
  return {
    lookup: async (name) => {
      asked += 1
      const found = names[name]
      if (!found) throw new Error('ENOTFOUND')
      return found
    },
    asked: () => asked,
  }
}

const evil = {
  'metadata.example': ['169.254.169.254'],
  'inside.example': ['10.0.0.5'],
  'mixed.example': ['93.184.216.34', '192.168.1.1'],
  'loop.example': ['127.0.0.1'],
  'loop6.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'nat64.example': ['64:ff9b::a9fe:a9fe'],
  'zoned.example': ['fe80::1%eth0'],
  'nowhere.example': ['0.0.0.0'],
  'xn--pple-43d.example': ['10.0.0.1'],
  // A name, although some read it as a number.
  '1e3': ['10.0.0.3'],
  'alibaba.example': ['100.100.100.200'],
  'azure.example': ['168.63.129.16'],
  'amazon.example': ['fd00:ec2::254'],
  'google.example': ['fd20:ce::254'],
  'ip6-localhost': ['::1'],
  'localhost.localdomain': ['127.0.0.1'],
  'host.docker.internal': ['192.168.65.254'],
  'kubernetes.default.svc': ['10.96.0.1'],
  '127.0.0.1.example': ['127.0.0.1'],
}

/** None of these may be called where nothing is allowed. */
const attempts: readonly string[] = [
  ...[
    '127.0.0.1',
    '127.1.2.3',
    '127.255.255.254',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'db.localhost',
    '[::1]',
    '::1',
    '0:0:0:0:0:0:0:1',
  ],
  ...['2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '127.1', '127.0.1', '017700000001', '127.0.0.01', '0x7f.1', '127.0.0.1.'],
  ...['169.254.169.254', '169.254.0.1', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '[::ffff:169.254.169.254]', '::ffff:a9fe:a9fe'],
  ...['100.100.100.200', '168.63.129.16', '::ffff:168.63.129.16', '64:ff9b::a83f:8110', '[fd20:0ce::254]', '192.0.0.192'],
  ...['fd00:ec2::254', 'fd00:ec2::23', 'fd00:c1::a9fe:a9fe', 'fd00:42::42'],
  ...['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1', '198.18.0.1', '192.0.0.1', '192.0.2.1'],
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::1'],
  ...[
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '2002:c0a8:101::',
    '2001:0:53aa:64c:0:0:80ff:fffe',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fec0::1',
  ],
  ...[
    'fe80::1%eth0',
    '[fe80::1%25eth0]',
    '::',
    '[::]',
    '0.0.0.0',
    '0',
    '0.1.2.3',
    '224.0.0.1',
    '239.1.1.1',
    'ff02::1',
    '255.255.255.255',
    '240.0.0.1',
  ],
  ...[
    '/var/run/postgresql',
    '%2Fvar%2Frun%2Fpostgresql',
    '@abstract',
    '\\\\.\\pipe\\x',
    'a.example,10.0.0.1',
    '93.184.216.34,127.0.0.1',
    '',
  ],
  ...[
    'user@127.0.0.1',
    'http://127.0.0.1',
    '127.0.0.1/x',
    '127.0.0.1:5432',
    'a b',
    'a\0b',
    '-x',
    '*.example',
    '１２７.０.０.１',
    '①②⑦.0.0.1',
    'ⓛocalhost',
    '127。0。0。1',
    '169.254.169｡254',
    'localhost。',
    'local\u00adhost',
    'local\u200bhost',
    '%31%32%37.0.0.1',
    '127.0.0.1%00.example',
    '127.0.0.1\0.example',
    ' 127.0.0.1',
    '127.0.0.1 ',
    '127.0.0.1\n',
    'a.example;10.0.0.1',
  ],
  ...['2001:db8::1', '3fff::1', '4000::1', '1.2.3', '1.2.3.4.5', '256.1.1.1', '0x', '[127.0.0.1', ...Object.keys(evil)],
]

describe('where nothing is allowed', () => {
  test.each(attempts.map((host) => [host]))('%j is not called', async (host) => {
    const { lookup } = resolver(evil)
    await expect(resolveAllowed(closed, host, 5432, lookup)).rejects.toMatchObject({ code: 'egress_refused' })
  })

  test.each([0, -1, 65_536, 1.5, '5432x', '', null, undefined, '0x50', ' 99999', {}, NaN])('the port %j is none', async (port) => {
    await expect(resolveAllowed(closed, '93.184.216.34', port)).rejects.toMatchObject({ code: 'egress_refused' })
  })

  test.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1::1', '[2606:2800:220:1::1]', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
    'the public address %s is called',
    async (host) => {
      const [{ address }] = await resolveAllowed(closed, host, 5432)
      expect(address).not.toContain('[')
    },
  )

  test('the refusal names the entry that allows the call, and that entry allows it', async () => {
    const { lookup } = resolver(evil)
    for (const host of ['10.0.0.1', 'fd12::1', 'inside.example', '169.254.169.254', 'metadata.example', 'localhost']) {
      const refused = (await resolveAllowed(closed, host, 5432, lookup).catch((error: unknown) => error)) as { extras: { hint: string } }
      const [, entry = ''] = /EGRESS_ALLOW=(\S+)/.exec(refused.extras.hint) ?? []
      const policy = parseEgress(entry, { loopback: false })
      expect((await resolveAllowed(policy, host, 5432, lookup)).length).toBeGreaterThan(0)
      await expect(resolveAllowed(policy, host, 5433, lookup)).rejects.toMatchObject({ code: 'egress_refused' })
    }
  })
})

describe('entries of EGRESS_ALLOW', () => {
  test.each<[entry: string, host: string, port: number, isAllowed: boolean]>([
    ['10.0.0.0/8', '10.9.8.7', 1, true],
    ['10.0.0.0/8', '11.0.0.1', 1, true],
    ['10.0.0.0/8', '172.16.0.1', 1, false],
    ['10.0.0.0/8:5432-5440', '10.1.1.1', 5440, true],
    ['10.0.0.0/8:5432-5440', '10.1.1.1', 5441, false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', 1, true],
    ['fd00::/8', 'fd12::1', 9, true],
    ['[fd00::/8]:9', 'fd12::1', 10, false],
    ['169.254.169.254', 'metadata.example', 80, true],
    ['metadata.example', 'metadata.example', 80, false],
    ['alibaba.example, azure.example', 'alibaba.example', 80, false],
    ['alibaba.example, azure.example', 'azure.example', 80, false],
    ['*.example', 'amazon.example', 80, false],
    ['*.example', 'google.example', 80, false],
    ['168.63.129.16:80', 'azure.example', 80, true],
    ['fd00::/8', 'amazon.example', 80, true],
    ['inside.example:5432', 'INSIDE.example.', 5432, true],
    ['*.example', 'inside.example', 1, true],
    ['*.example', 'mixed.example', 1, true],
    ['*.inside.example', 'inside.example', 1, false],
    ['inside.example', '10.0.0.5', 1, false],
    ['localhost:5432', 'localhost', 5432, true],
    ['0.0.0.0/0', '0.0.0.0', 1, false],
    ['0.0.0.0/0', '224.0.0.1', 1, false],
    ['0.0.0.0/0, [::/0]:*', '::1', 1, true],
    ['127.0.0.1, ::1', 'localhost', 1, true],
    ['nowhere.example', 'nowhere.example', 1, false],
  ])('%s and %s:%i', async (entry, host, port, isAllowed) => {
    const resolved = resolveAllowed(parseEgress(entry, { loopback: false }), host, port, resolver(evil).lookup)
    if (isAllowed) expect((await resolved).length).toBeGreaterThan(0)
    else await expect(resolved).rejects.toMatchObject({ code: 'egress_refused' })
  })

  test.each([
    '10.0.0.0/33',
    '10.0.0',
    'a..b',
    '*',
    '**.b',
    'a:0',
    'a:70000',
    'a:5-4',
    'http://a',
    '[::1',
    'a/8',
    'fe80::1%eth0',
    '10.0.0.1/8/8',
    '2130706433',
  ])('the entry %s stops the start', (entry) => {
    expect(() => egressOf(readConfig({ EGRESS_ALLOW: `ok.example,${entry}` }))).toThrow(/^EGRESS_ALLOW: '/)
  })

  test('programs on this machine are called without an entry only where HOST is loopback, and no proxy brings clients', async () => {
    await expect(resolveAllowed(egressOf(readConfig({})), 'localhost', 1)).resolves.toHaveLength(2)
    for (const reached of [{ HOST: '0.0.0.0' }, { TRUST_PROXY: 'loopback' }, { TRUST_PROXY: '1' }])
      await expect(resolveAllowed(egressOf(readConfig(reached)), 'localhost', 1)).rejects.toMatchObject({ code: 'egress_refused' })
    const entry = { TRUST_PROXY: 'loopback', EGRESS_ALLOW: '127.0.0.1:11434' }
    await expect(resolveAllowed(egressOf(readConfig(entry)), '127.0.0.1', 11_434)).resolves.toHaveLength(1)
    await expect(resolveAllowed(egressOf(readConfig({})), '10.0.0.1', 1)).rejects.toMatchObject({ code: 'egress_refused' })
  })
})

test('a name is resolved once, and what was checked is called: a second answer is never asked for', async () => {
  const server = createServer((socket) => void socket.on('error', () => undefined).end('here')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let asked = 0
  const lookup: NameLookup = async () => (++asked === 1 ? ['127.0.0.1'] : ['169.254.169.254'])
  const { socket, to } = await connectAllowed(parseEgress('', { loopback: true }), 'moving.example', port, { timeoutMs: 60_000, lookup })
  expect([asked, to, socket.remoteAddress]).toEqual([1, { name: 'moving.example', address: '127.0.0.1', port }, '127.0.0.1'])
  socket.destroy()
  server.close()
})

test('an address that does not answer leaves time for the other ones', async () => {
  // A port that the system chooses for one address may be taken at the other.
  const port = await freePort()
  const server = createServer((socket) => void socket.on('error', () => undefined).end('here')).listen(port, '127.0.0.2')
  await once(server, 'listening')
  // Its thread accepts no connection: the system drops those that it has no place for. It is asked for none before it stands still.
  const silent = new Worker(
    `const { parentPort } = require('node:worker_threads')
     require('node:net').createServer().listen({ host: '127.0.0.1', port: ${port}, backlog: 1 }, () => {
       setImmediate(() => {
         parentPort.postMessage('listening')
         Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
       })
     })`,
    { eval: true },
  )
  await once(silent, 'message')
  const filling = Array.from({ length: 4 }, () => createConnection(port, '127.0.0.1').on('error', () => undefined))
  await once(filling[0]!, 'connect')
  const policy = parseEgress('', { loopback: true })
  const lookup: NameLookup = async () => ['127.0.0.1', '127.0.0.2']
  // The half of it that is left is long enough on a busy machine.
  const { socket, to } = await connectAllowed(policy, 'half.example', port, { timeoutMs: 20_000, lookup })
  expect(to.address).toBe('127.0.0.2')
  const alone = connectAllowed(policy, '127.0.0.1', port, { timeoutMs: 200 })
  await expect(alone).rejects.toMatchObject({ detail: `127.0.0.1:${port} cannot be reached (ETIMEDOUT)` })
  for (const one of [socket, ...filling]) one.destroy()
  server.close()
  await silent.terminate()
})

test('a port where nothing listens, and a resolver that never answers, are told in time', async () => {
  const policy = parseEgress('', { loopback: true })
  await expect(connectAllowed(policy, '127.0.0.1', 1, { timeoutMs: 60_000 })).rejects.toMatchObject({ title: 'Connection refused' })
  const never: NameLookup = () => new Promise(() => undefined)
  await expect(connectAllowed(policy, 'slow.example', 1, { timeoutMs: 300, lookup: never })).rejects.toMatchObject({
    code: 'connection_failed',
  })
})

describe('a lookup that callers share', () => {
  const policy = parseEgress('', { loopback: true })
  /** Names below silent.example get no answer, those below gone.example are not known, and others have an address. */
  const counting = (): { ask: NameLookup; asked: string[] } => {
    const asked: string[] = []
    const ask: NameLookup = async (name) => {
      asked.push(name)
      if (name.endsWith('silent.example')) return new Promise(() => undefined)
      if (name.endsWith('gone.example')) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
      if (name.endsWith('busy.example')) throw Object.assign(new Error('try again'), { code: 'EAI_AGAIN' })
      return ['93.184.216.34']
    }
    return { ask, asked }
  }

  test('asks once for equal names, and finds other names while one is silent', async () => {
    const { ask, asked } = counting()
    const lookup = sharedLookup(ask)
    const silent = Array.from({ length: 8 }, () => connectAllowed(policy, 'silent.example', 1, { timeoutMs: 100, lookup }))
    await Promise.all(silent.map((one) => expect(one).rejects.toMatchObject({ code: 'connection_failed' })))
    await expect(connectAllowed(policy, 'silent.example', 1, { timeoutMs: 100, lookup })).rejects.toMatchObject({
      code: 'connection_failed',
    })
    const found = await Promise.all([1, 2].map(() => resolveAllowed(policy, 'there.example', 1, lookup)))
    expect(found.map(([{ address }]) => address)).toEqual(['93.184.216.34', '93.184.216.34'])
    expect(asked).toEqual(['silent.example', 'there.example'])
    // An answer is not remembered: the next connection may get another address.
    await resolveAllowed(policy, 'there.example', 1, lookup)
    expect(asked).toEqual(['silent.example', 'there.example', 'there.example'])
  })

  test('remembers a failure for a while', async () => {
    const { ask, asked } = counting()
    const lookup = sharedLookup(ask)
    const unknown = { code: 'connection_failed', detail: 'The host gone.example is not known' }
    for (let i = 0; i < 3; i++) await expect(resolveAllowed(policy, 'gone.example', 1, lookup)).rejects.toMatchObject(unknown)
    expect(asked).toEqual(['gone.example'])
    const short = counting()
    const forgetting = sharedLookup(short.ask, { failureMaxAgeMs: 1 })
    await until(async () => {
      await expect(resolveAllowed(policy, 'gone.example', 1, forgetting)).rejects.toMatchObject(unknown)
      return short.asked.length > 1
    })
  })

  test('asks again after a failure that passes', async () => {
    const { ask, asked } = counting()
    const lookup = sharedLookup(ask)
    for (let i = 0; i < 2; i++)
      await expect(resolveAllowed(policy, 'busy.example', 1, lookup)).rejects.toMatchObject({ code: 'connection_failed' })
    expect(asked).toEqual(['busy.example', 'busy.example'])
  })

  test('refuses more lookups than its limit, and takes a name that is under way', async () => {
    const { ask, asked } = counting()
    const lookup = sharedLookup(ask, { most: 2 })
    for (const name of ['a.silent.example', 'b.silent.example']) void resolveAllowed(policy, name, 1, lookup)
    await expect(resolveAllowed(policy, 'there.example', 1, lookup)).rejects.toMatchObject({
      code: 'busy',
      detail: '2 names are being looked up (egressLookupsMax)',
    })
    const again = connectAllowed(policy, 'a.silent.example', 1, { timeoutMs: 100, lookup })
    await expect(again).rejects.toMatchObject({ code: 'connection_failed' })
    expect(asked).toEqual(['a.silent.example', 'b.silent.example'])
  })

  test('makes room when a lookup ends, whatever its answer', async () => {
    const { ask } = counting()
    const lookup = sharedLookup(ask, { most: 1 })
    for (let i = 0; i < 3; i++) {
      await expect(resolveAllowed(policy, `${i}.gone.example`, 1, lookup)).rejects.toMatchObject({ code: 'connection_failed' })
      await expect(resolveAllowed(policy, `${i}.example`, 1, lookup)).resolves.toHaveLength(1)
    }
  })
})
