import { describe, expect, test } from '@jest/globals'
import { fc } from '../../../support/random/properties.js'
import { cutSecrets, maskSecretsInSql } from '../../../../src/dialect/mask-secrets.js'
import { parseStatement } from '../../../../src/sql/statements/parse.js'
import { codePoint } from '../../../support/random/code-points.js'

const keys =
  'api_key openai_api_key API_KEY apiKey password PASSWD pwd secret client_secret token bot_token accessToken access_key aws_secret_access_key private_key credentials Authorization smtp_password dbpassword'.split(
    ' ',
  )

describe('secrets are cut from the text of a statement', () => {
  const exact: [sql: string, cut: string][] = [
    ["CREATE AGENT a USING model = 'm', api_key = 'sk-1', k = 2", "CREATE AGENT a USING model = 'm', api_key = '******', k = 2"],
    ['UPDATE AGENT a SET `API_KEY`="sk-1"', 'UPDATE AGENT a SET `API_KEY`="******"'],
    [
      'CREATE DATABASE d WITH ENGINE = \'pg\', PARAMETERS = {"user": "u", "password": "p\\"w", "port": 1}',
      'CREATE DATABASE d WITH ENGINE = \'pg\', PARAMETERS = {"user": "u", "password": "******", "port": 1}',
    ],
    [
      "CREATE AGENT a USING model = {'a': {'token': ['x', 'y']}, 'b': 1}",
      "CREATE AGENT a USING model = {'a': {'token': '******'}, 'b': 1}",
    ],
    ["CREATE AGENT a USING credentials.user = 'u', x = 1", "CREATE AGENT a USING credentials.user = '******', x = 1"],
    ["CREATE AGENT a USING llm.api_key = 'x'", "CREATE AGENT a USING llm.api_key = '******'"],
    ["CREATE AGENT a USING url = 'postgres://u:p@w@h/db', b = 1", "CREATE AGENT a USING url = 'postgres://******@h/db', b = 1"],
    ["CREATE AGENT a USING dsn = 'host=h password=p user=u', b = 1", "CREATE AGENT a USING dsn = '******', b = 1"],
    ["CREATE AGENT a USING conn = 'host=h password=p user=u', b = 1", "CREATE AGENT a USING conn = 'host=h password=******', b = 1"],
    ["SELECT a FROM t WHERE token = 'x' AND b = 1", "SELECT a FROM t WHERE token = '******' AND b = 1"],
    [
      "CREATE AGENT a USING max_tokens = 5, table = 'tokens', prompt = 'a: b'",
      "CREATE AGENT a USING max_tokens = 5, table = 'tokens', prompt = 'a: b'",
    ],
    [
      "SELECT 1; INSERT INTO files.u (name, password) VALUES ('bob', 'p'), ('eve', 'q'); SELECT 'a'",
      "SELECT 1; INSERT INTO files.u (name, password) VALUES ******; SELECT 'a'",
    ],
    [
      "CREATE JOB j (SELECT * FROM crm (INSERT INTO u (login, password) VALUES ('bob', 'p') RETURNING id); SELECT 'a')",
      "CREATE JOB j (SELECT * FROM crm (INSERT INTO u (login, password) VALUES ******); SELECT 'a')",
    ],
    ["INSERT u (key, value, password) VALUE (1, 2, 'p')", 'INSERT u (key, value, password) VALUE ******'],
    ["REPLACE INTO u (login, password) VALUES ('bob', 'p')", 'REPLACE INTO u (login, password) VALUES ******'],
    ["replace delayed u (login, password) values ('bob', 'p')", 'replace delayed u (login, password) values ******'],
    [
      "ALTER JOB j (INSERT INTO u (login, password) VALUES ('bob', 'p')) EVERY hour",
      'ALTER JOB j (INSERT INTO u (login, password) VALUES ******) EVERY hour',
    ],
    [
      "CREATE JOB j (SELECT * FROM crm (UPDATE u SET (login, password) = ('bob', 'p') WHERE id = 1); SELECT 'a')",
      "CREATE JOB j (SELECT * FROM crm (UPDATE u SET (login, password) = '******' WHERE id = 1); SELECT 'a')",
    ],
    [
      "SELECT 1 FROM t WHERE (t.login, t.password) IN (('bob', 'p'), ('eve', 'q')) AND b = 'c'",
      "SELECT 1 FROM t WHERE (t.login, t.password) IN '******' AND b = 'c'",
    ],
    ['SELECT count(token) FROM t HAVING count(token) > 100', 'SELECT count(token) FROM t HAVING count(token) > 100'],
    [
      "WITH x AS (SELECT 'a') INSERT INTO u (login, password) VALUES ('bob', 'p')",
      "WITH x AS (SELECT 'a') INSERT INTO u (login, password) VALUES ******",
    ],
    [
      "MERGE INTO u USING n ON a = b WHEN NOT MATCHED THEN INSERT (login, password) VALUES ('bob', 'p')",
      'MERGE INTO u USING n ON a = b WHEN NOT MATCHED THEN INSERT (login, password) VALUES ******',
    ],
    [
      "SELECT * FROM pg ($$SELECT 1 WHERE password = 'p' AND a = 'b'$$)",
      "SELECT * FROM pg ($$SELECT 1 WHERE password = '******' AND a = 'b'$$)",
    ],
    [
      "CREATE MODEL m FROM pg ($q$INSERT INTO u (login, password) VALUES ('bob', 'p')$q$) PREDICT x",
      'CREATE MODEL m FROM pg ($q$INSERT INTO u (login, password) VALUES ******$q$) PREDICT x',
    ],
    ["SELECT * FROM pg ($$never 'ends, password = p$$)", "SELECT * FROM pg ($$never 'ends, password = ******$$)"],
    [
      String.raw`SELECT * FROM pg ($$SELECT token, '\' FROM t WHERE password LIKE 'p'$$)`,
      String.raw`SELECT * FROM pg ($$SELECT token, '\' FROM t WHERE password LIKE '******'$$)`,
    ],
    [
      'SELECT * FROM pg ($$SELECT 1 FROM a JOIN b\nON a.password_hash = b.password_hash$$)',
      "SELECT * FROM pg ($$SELECT 1 FROM a JOIN b\nON a.password_hash = '******'$$)",
    ],
    ["CREATE OR REPLACE VIEW passwords AS (SELECT 'a')", "CREATE OR REPLACE VIEW passwords AS (SELECT 'a')"],
    ["SELECT replace(password, b) AS a, (SELECT 'a') FROM t", "SELECT replace(password, b) AS a, (SELECT 'a') FROM t"],
    ["SELECT * REPLACE (password AS a) FROM (SELECT 'a')", "SELECT * REPLACE (password AS a) FROM (SELECT 'a')"],
    ['SELECT token, name AS "password" FROM users ORDER BY token', 'SELECT token, name AS "password" FROM users ORDER BY token'],
  ]
  test.each(exact)('%s', (sql, cut) => expect(cutSecrets(sql)).toBe(cut))

  test('what is left of a valid statement is one', () => {
    for (const key of keys)
      expect(() => parseStatement(cutSecrets(`CREATE AGENT a USING x = {"${key}": ['a', {"b": 1}]}, ${key} = "it's"`))).not.toThrow()
  })

  test('a statement without secrets stays byte for byte', () => {
    const sql = " SELECT 'a' /* b */ , \"c\" FROM t -- d\n WHERE e = 'f' ; "
    expect(cutSecrets(sql)).toBe(sql)
  })

  test('masking keeps every place', () => {
    const sql = "SET a = 1,\n token = 'x\ny', b = 2"
    expect(maskSecretsInSql(sql)).toBe('SET a = 1,\n token = **\n**, b = 2')
  })
})

/** Letters that stand in no key, so that a found one is a secret that survived. */
const secret = fc
  .string({ unit: fc.constantFrom('Q', 'X', 'Z', '0', '7', '8', '9'), minLength: 6, maxLength: 20 })
  .map((text) => `Q${text}`)
const noise = fc.constantFrom('', ' ', '\n', '\t ', ' /* c */ ')
const anyCase = fc.constantFrom(
  (key: string) => key,
  (key: string) => key.toUpperCase(),
  (key: string) => key.toLowerCase(),
)
const key = fc.tuple(fc.constantFrom(...keys), anyCase).map(([name, change]) => change(name))

/** A secret value in every quoting, also with quotes and backslashes inside it. */
const quoted = fc
  .tuple(
    secret,
    secret,
    fc.constantFrom('', "''", "\\'", '\\\\', '""', '\\"', ' ', ',', '@', '$$', ';', '--', '/*', '='),
    fc.constantFrom("'", '"', '`'),
  )
  .map(([a, b, inside, quote]) => {
    const fits = (quote === "'" && inside !== '""') || (quote === '"' && inside !== "''") || (quote === '`' && !inside.includes('\\'))
    return `${quote}${a}${fits ? inside : '-'}${b}${quote}`
  })
const bare = fc.oneof(
  secret,
  fc.tuple(secret, secret).map(([a, b]) => `${a}-${b}`),
  fc.tuple(secret, secret).map(([a, b]) => `${a}.${b}`),
)
const value = fc.oneof(
  quoted,
  quoted,
  bare,
  fc.tuple(quoted, quoted).map(([a, b]) => `[${a}, ${b}]`),
  fc.tuple(quoted, quoted).map(([a, b]) => `{'id': ${a}, "x": {"y": ${b}}}`),
  fc.tuple(quoted, quoted).map(([a, b]) => `concat(${a}, ${b})`),
  fc.tuple(quoted, quoted).map(([a, b]) => `${a} || ${b}`),
)

const setting = fc.tuple(
  key,
  fc.constantFrom('', "'", '"', '`'),
  noise,
  fc.constantFrom('=', ':', '=>', ':='),
  noise,
  value,
  fc.constantFrom('', 'llm.', 'a.`b`.'),
)
const planted = setting.chain(([name, quote, before, operator, after, secretValue, prefix]) => {
  const pair = `${prefix}${quote}${name}${quote}${before}${operator}${after}${secretValue}`
  return fc.constantFrom(
    `CREATE AGENT a USING model = 'm', ${pair}, k = 1`,
    `CREATE SKILL s USING ${pair}`,
    `UPDATE CHATBOT c SET x = 1, ${pair}`,
    `CREATE DATABASE d WITH ENGINE = 'e', PARAMETERS = {"host": "h", ${pair}, "port": 1}`,
    `CREATE DATABASE d WITH ENGINE = 'e' PARAMETERS {"a": [{"b": {${pair}}}]}`,
    `SET ${pair}`,
    `SET x = 1, ${pair};`,
    `ALTER DATABASE d PARAMETERS = {${pair}`,
    `CREATE AGENT a USING ${pair} oops oops`,
    `CREAT AGENT ((( a USING ${pair} ]`,
    `CREATE AGENT a USING ${pair}, b = 'never ends`,
    `CREATE AGENT a USING b = "never ends, ${pair}`,
    `/* never ends CREATE AGENT a USING ${pair}`,
    `SELECT * FROM t WHERE ${pair} AND b = 1`,
    `-- ${pair}\nSELECT 1`,
    `SELECT 1 /* ${pair} */`,
    `-- ${pair}`,
    `SELECT json_object('${name}', ${secretValue})`,
    `CREATE USER u IDENTIFIED BY ${secretValue}`,
    `INSERT INTO t (a, ${name}) VALUES (1, ${secretValue}), (2, ${secretValue})`,
    `UPDATE t SET (a, ${name}) = (1, ${secretValue})`,
    `REPLACE INTO t (a, ${name}) VALUES (1, ${secretValue})`,
    `CREATE JOB j (SELECT 1; INSERT INTO t (a, ${name}) VALUES (1, ${secretValue}))`,
    `CREATE JOB j (SELECT * FROM crm (WITH a AS (SELECT 1) INSERT INTO t (a, ${name}) SELECT 1, ${secretValue}))`,
    `${name} ${secretValue.replace(/^[^'"`[{].*/s, "'x'")}`,
  )
})

describe('no secret survives', () => {
  test('in any quoting, nesting, case, list, or after a syntax error', () =>
    fc.assert(
      fc.property(planted, (sql) => {
        expect(cutSecrets(sql)).not.toMatch(/Q[QXZ0789]{4}/)
        expect(maskSecretsInSql(sql)).not.toMatch(/Q[QXZ0789]{4}/)
        expect(maskSecretsInSql(sql)).toHaveLength(sql.length)
      }),
      { numRuns: 3000 },
    ))

  test('when the statement is cut off anywhere', () =>
    fc.assert(
      fc.property(planted, fc.nat(120), (sql, size) => expect(cutSecrets(sql.slice(0, size))).not.toMatch(/Q[QXZ0789]{4}/)),
      { numRuns: 3000 },
    ))

  test('inside texts: connection strings, JSON, headers, URLs', () => {
    const inText = fc
      .tuple(key, secret, fc.constantFrom("'", '"'), fc.constantFrom('=', ' = ', ': ', ':'))
      .chain(([name, hidden, quote, operator]) =>
        fc
          .constantFrom(
            `host=h ${name}${operator}${hidden} user=u`,
            `{\\"a\\": 1, \\"${name}\\": \\"${hidden}\\"}`,
            `https://h/p?a=1&${name}=${hidden}&b=2`,
            `postgres://u:${hidden}@h/db`,
            `postgres://u:a/${hidden}@b@h/db`,
            `https://${hidden}@h/db`,
            `Bearer ${hidden}`,
          )
          .map((text) => `CREATE AGENT a USING x = ${quote}${text}${quote}, y = 1`),
      )
    fc.assert(
      fc.property(inText, (sql) => expect(cutSecrets(sql)).not.toMatch(/Q[QXZ0789]{4}/)),
      { numRuns: 3000 },
    )
  })

  test('when quotes are broken before or in the value', () => {
    for (const sql of [
      "CREATE AGENT a USING x = 'it's', password = 'hunter2', y = 'b'",
      "CREATE AGENT a USING x = 'it's', password = 'hunter2', y = 'b's'",
      "CREATE AGENT a USING password = 'it's hunter2', y = 'b'",
      "CREATE AGENT a USING password = 'a'b, hunter2', y = 'b",
      "CREATE AGENT a USING password = 'a\\', hunter2', y = 'b'",
    ])
      expect(cutSecrets(sql)).not.toContain('hunter2')
  })

  test('whatever the text is, cutting does not fail', () =>
    fc.assert(fc.property(fc.string({ unit: codePoint, maxLength: 80 }), (text) => expect(cutSecrets(text)).toEqual(expect.any(String)))))

  test('a long text is cut in time', () => {
    // Of this process alone, so that a busy machine does not count.
    const before = process.cpuUsage()
    cutSecrets(`SELECT ${'a = 1, '.repeat(140_000)}`)
    cutSecrets(`SELECT '${'a:b=c://x '.repeat(90_000)}`)
    cutSecrets(`SELECT '${'://a:b'.repeat(90_000)}'`)
    cutSecrets(`CREATE AGENT a USING ${'token = ('.repeat(90_000)}`)
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000)
  })
})
