import { describe, expect, test } from '@jest/globals'
import { fc } from '../../support/random/properties.js'
import type { Json, JsonObject } from '../../../events/common.js'
import { payloadsOf } from '../../../events/catalogue/references.js'
import { mergeParams } from '../../../src/commands/rules/params.js'
import { isProblem } from '../../../src/basics/errors.js'
import { mask } from '../../../src/basics/shown.js'
import { isSecretKey } from '../../../src/vault/secret-keys.js'
import { hasUrlPassword, holdsSecret } from '../../../src/vault/looks-secret.js'
import { maskSecrets, sealSecrets } from '../../../src/vault/seal-secrets.js'
import { Vault } from '../../../src/vault/vault.js'
import { testKey } from '../../support/log/log.js'
import { secretKeys } from '../../support/secret-keys.js'

const vault = new Vault(testKey)
const plainKeys = [
  ...['max_tokens', 'token_count', 'tokenizer', 'bypass', 'compass', 'passes', 'key', 'primary_key', 'keyword', 'monkey', 'prompt'],
  ...['low_pass', 'encompass', 'auth', 'author', 'authority', 'oauth', 'auth_type', 'tokens', 'stop_tokens', 'token_type', 'token_url'],
  ...['memory_key', 'input_key', 'cache_key', 'sort_key', 's3_key', 'public_key', 'redis_key', 'password_file', 'secret_name', 'jwt'],
  ...['aws_access_key_id', 'keys', 'kw', 'spin', 'gpio_pin', 'webhook', 'hash', 'value', 'credential_type', 'session_id', 'cookie_name'],
  // The second letter is Cyrillic.
  'pаssword',
  ...['secretary', 'secret_length', 'password_policy', 'model', 'database', 'tables', 'k', '', 'authorization_url', 'cookies_enabled'],
]
const urls = [
  ...[
    'postgres://u:p@host',
    'see redis://:p@host:6379/0 for it',
    'HTTP://U:P@H',
    'mongodb+srv://u:p@h/db',
    'x://u:p@ss@h',
    'a://b c://d:e@f',
  ],
  ...[
    'https://host/?api_key=k',
    'https://maps.example/v1?q=1&key=AB3-x9Zk77',
    'https://blob.example/f?sig=a8Fb%2F31x',
    'https://host/login?next=https://other/?api_key=k',
    'jdbc:postgresql://h/db?user=u&password=p',
    'jdbc:sqlserver://h;user=u;password=p',
  ],
]
const plainTexts = [
  ...['https://host:8080/path', 'ssh://git@host', 'a:b@c', '://u:p@h', 'http://host/a:b@c', 'http://u:@h', 'time 10:30 @ noon', ''],
  ...['https://host/?max_tokens=5', 'https://host/?sort=up&key=name', 'https://host/?key=overview', 'password=p is not a URL'],
]

describe('which keys and texts are secret', () => {
  test.each(secretKeys)('%j is', (key) => expect(isSecretKey(key)).toBe(true))
  test.each(plainKeys)('%j is not', (key) => expect(isSecretKey(key)).toBe(false))
  test.each(urls)('%j carries a password', (text) => expect(hasUrlPassword(text)).toBe(true))
  test.each(plainTexts)('%j carries none', (text) => expect(hasUrlPassword(text)).toBe(false))

  test('a token of JSON is one behind any word, and one that is nested too deeply to look into counts as one', () => {
    const token = `eyJ${'a-'.repeat(10)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`
    for (const text of [token, `x ${token}`, `jwt-${token}`, `a=${token};`]) expect(holdsSecret(text)).toBe(true)
    for (const text of [token.replace('.eyJ', '.eyK'), `x${token}`.replace('xeyJ', 'xeyK')]) expect(holdsSecret(text)).toBe(false)
    expect(holdsSecret('['.repeat(200_000) + ']'.repeat(200_000))).toBe(true)
  })

  test('a text chosen badly takes time that grows with it, and not with its square', () => {
    const parts = 'a|:|@|a://|a://:|://|a:b|?a|?a=|;|x |?token|1|a=| -a|\n|{|sk-|sk-a-|SG.|SG.a-|eyJa|eyJ-|.eyJ|eyJ-.|a@'.split('|')
    const timeOf = (chars: number): number => {
      // Of this process alone, so that a busy machine does not count.
      const started = process.cpuUsage()
      for (const text of parts.map((part) => part.repeat(chars / part.length))) {
        for (const around of [text, `a://${text}`, `a=${text}`, `password: ${text}`]) holdsSecret(around)
        isSecretKey(text)
      }
      return process.cpuUsage(started).user / 1_000
    }
    timeOf(20_000)
    // Even so one of the two may take several times as long.
    expect(timeOf(400_000)).toBeLessThan(1_000 + 60 * timeOf(20_000))
  })
})

describe('sealing', () => {
  test('secrets of every type at every depth go, everything else stays', () => {
    const { value, payloads } = sealSecrets(vault, {
      api_key: 'sk-1',
      model: 'm',
      deep: [{ credentials: { user: 'u', list: [1] } }, { url: 'postgres://u:p@h' }],
      pins: { password: 1234, password_none: null, token: null, secret: '', pwd: false },
    })
    expect(payloads.map((payload) => JSON.parse(vault.open(payload)?.toString() ?? '') as Json)).toEqual([
      'sk-1',
      { user: 'u', list: [1] },
      'postgres://u:p@h',
      1234,
    ])
    const [a, b, c, d] = payloads.map(({ hash }) => ({ $secret: hash }))
    expect(value).toEqual({
      api_key: a,
      model: 'm',
      deep: [{ credentials: b }, { url: c }],
      pins: { password: d, password_none: null, token: null, secret: '', pwd: false },
    })
    expect(payloadsOf('SkillCreated', value)).toEqual(payloads.map(({ hash }) => hash))
  })

  test('what a request marks with $seal is sealed, whatever it is and wherever it stands', () => {
    const { value, payloads } = sealSecrets(vault, { room: { $seal: 1234 }, list: [{ $seal: { a: ['b'] } }], api_key: { $seal: 'k' } })
    expect(payloads.map((payload) => JSON.parse(vault.open(payload)?.toString() ?? '') as Json)).toEqual([1234, { a: ['b'] }, 'k'])
    const [room, item, key] = payloads.map(({ hash }) => ({ $secret: hash }))
    expect(value).toEqual({ room, list: [item], api_key: key })
    expect(sealSecrets(vault, { room: { $seal: mask }, none: { $seal: null } }).value).toEqual({ room: mask, none: null })
    for (const params of [{ $seal: 'x' }, { a: { $seal: 'x', b: 1 } }] as JsonObject[])
      expect(() => sealSecrets(vault, params)).toThrow('$seal')
  })

  test('of a pair of name and value the value is sealed when the name is that of a secret', () => {
    const bearer = 'Bearer k3y'
    const { value, payloads } = sealSecrets(vault, {
      headers: [
        { name: 'Authorization', value: bearer },
        { name: 'Accept', value: 'text/csv' },
      ],
      pairs: [
        ['X-Api-Key', 'k3y'],
        ['Accept', 'text/csv'],
      ],
      columns: [['password', 'token']],
      columnNames: ['password', 'token'],
    })
    const [header, pair] = payloads.map(({ hash }) => ({ $secret: hash }))
    expect(payloads).toHaveLength(2)
    expect(value).toEqual({
      headers: [
        { name: 'Authorization', value: header },
        { name: 'Accept', value: 'text/csv' },
      ],
      pairs: [
        ['X-Api-Key', pair],
        ['Accept', 'text/csv'],
      ],
      columns: [['password', 'token']],
      columnNames: ['password', 'token'],
    })
  })

  test('a list under a secret key is one secret', () => expect(sealSecrets(vault, { api_keys: ['a', 'b'] }).payloads).toHaveLength(1))

  test('a number in class_weights is the weight of a class, whatever the class is called', () => {
    const weights = { class_weights: { password: 5, email: 1 } }
    expect(sealSecrets(vault, weights)).toEqual({ value: weights, payloads: [] })
    expect(sealSecrets(vault, { class_weights: { password: 'hunter2', pin: { $seal: 5 } } }).payloads).toHaveLength(2)
  })

  test('the reserved key is refused wherever a client writes it', () => {
    for (const params of [{ $secret: 'x' }, { a: [{ $secret: 'x' }] }, { a: { $secret: 'x', b: 1 } }] as JsonObject[])
      try {
        sealSecrets(vault, params)
        throw new Error('was not refused')
      } catch (error) {
        expect(isProblem(error) && error.code).toBe('wrong_arguments')
      }
  })

  test('a mask is not sealed: it stands for what is there', () => {
    const sent = { api_key: mask, list: [{ token: mask }] }
    expect(sealSecrets(vault, sent)).toEqual({ value: sent, payloads: [] })
  })
})

describe('masks', () => {
  const key = fc.oneof(
    fc.constantFrom(...secretKeys.filter((k) => k.trim() === k), ...plainKeys),
    fc.string({ maxLength: 5 }).filter((k) => !k.startsWith('$') && k !== '__proto__'),
  )
  const leaf = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom(...urls, 'sk-1'), fc.integer(), fc.boolean())
  const json = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
    object: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  })).object

  test('what a read shows can be sent back as it is, and changes nothing', () => {
    fc.assert(
      fc.property(json, (params) => {
        const before = sealSecrets(vault, params).value
        const { value: patch, payloads } = sealSecrets(vault, maskSecrets(before))
        expect(payloads).toEqual([])
        expect(mergeParams(before, patch)).toEqual(before)
      }),
      { numRuns: 300 },
    )
  })

  test('a secret that was planted anywhere is in no sealed value, and in no masked one', () => {
    const planted = 'PLANTED-b52f1c'
    const place = fc.tuple(
      json,
      fc.constantFrom(...secretKeys),
      fc.constantFrom<Json>(planted, [planted], { user: planted }, `a ${planted}`),
    )
    fc.assert(
      fc.property(place, fc.array(key, { maxLength: 4 }), ([around, secretKey, secret], path) => {
        const inner: JsonObject = { ...around, [secretKey]: secret }
        const params = path.reduce<JsonObject>((value, name, i) => (i % 2 ? { [name]: [value] } : { ...around, [name]: value }), inner)
        const { value } = sealSecrets(vault, params)
        expect(JSON.stringify(value)).not.toContain(planted)
        expect(JSON.stringify(maskSecrets(value))).not.toContain(planted)
      }),
      { numRuns: 500 },
    )
  })
})
