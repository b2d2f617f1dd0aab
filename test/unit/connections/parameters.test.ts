import { describe, expect, test } from '@jest/globals'
import type { JsonObject } from '../../../events/common.js'
import { driverOf, engineSpoken } from '../../../src/catalogue/connection-engines.js'
import { readParameters as readMysql } from '../../../src/connections/engines/mysql/parameters.js'
import { readPath } from '../../../src/connections/engines/files/paths.js'
import { readParameters as readPostgres } from '../../../src/connections/engines/postgres/parameters.js'

const host = { host: 'db.example.com' }

describe('the port of a connection that names none', () => {
  test.each([
    ['postgres', 5432],
    ['timescaledb', 5432],
    ['Redshift', 5439],
    ['cockroachdb', 26257],
    ['yugabyte', 5433],
  ])('%s', (engine, port) => {
    expect(Number(readPostgres({ engine, parameters: host }).port)).toBe(port)
    expect(Number(readPostgres({ engine, parameters: { ...host, port: 7 } }).port)).toBe(7)
  })
  test.each(['mysql', 'mariadb', 'aurora_mysql'])('%s', (engine) => {
    expect(readMysql({ engine, parameters: host }).port).toBe('3306')
  })
})

describe('db_engine', () => {
  test('says which protocol Aurora speaks', () => {
    expect(driverOf(engineSpoken('aurora', { DB_Engine: 'MySQL' }))).toBe('mysql')
    for (const said of ['postgres', undefined, null, 7]) expect(driverOf(engineSpoken('aurora', { db_engine: said }))).toBe('postgres')
    expect(driverOf(engineSpoken('postgres', { db_engine: 'mysql' }))).toBe('postgres')
    expect(readMysql({ engine: 'aurora_mysql', parameters: { ...host, db_engine: 'mysql' } }).port).toBe('3306')
    expect(readPostgres({ engine: 'aurora', parameters: { ...host, db_engine: 'postgres' } }).host).toBe(host.host)
  })
  test('is refused with another value, and of other engines', () => {
    const at = (engine: string, db_engine: string) => () => readPostgres({ engine, parameters: { ...host, db_engine } })
    expect(at('aurora', 'oracle')).toThrow(/neither "mysql" nor "postgres"/)
    expect(at('postgres', 'postgres')).toThrow(/no parameter "db_engine"/)
  })
})

test('MySQL takes the names that PostgreSQL takes', () => {
  const parameters = { connection_string: 'mysql://me:secret@db.example.com/shop' }
  expect(readMysql({ engine: 'mysql', parameters })).toMatchObject({ ...host, user: 'me', password: 'secret', database: 'shop' })
  expect(readMysql({ engine: 'mysql', parameters: { ...host, dbname: 'sales' } }).database).toBe('sales')
})

test('files are only read, whatever a connection says', () => {
  expect(readPath({ path: 'shop.duckdb', read_only: true })).toBe('shop.duckdb')
  expect(() => readPath({ path: 'shop.duckdb', read_only: false })).toThrow(/only read/)
})

test('TiDB is a record: it does not keep a transaction from writing', () => {
  expect(driverOf('tidb')).toBeUndefined()
})

describe('parameters that clients of MindsDB send to PostgreSQL', () => {
  const read = (parameters: JsonObject) => readPostgres({ engine: 'postgres', parameters: { ...host, ...parameters } })
  test('change nothing if they would have no effect', () => {
    const inner = { connect_timeout: 5, application_name: 'mine', keepalives: 1, client_encoding: 'UTF8', Keepalives_Idle: 30 }
    expect(read({ autocommit: true, connect_timeout: 9, application_name: 'mine', connection_parameters: inner })).toEqual(read({}))
    expect(read({ connection_parameters: {} })).toEqual(read({ connection_parameters: null }))
  })
  test('say how the connection is encrypted, unless a parameter beside them does', () => {
    const required = { connection_parameters: { sslmode: 'require' } }
    expect(read(required).encryption.mode).toBe('require')
    expect(read({ ...required, sslmode: 'disable' }).encryption.mode).toBe('disable')
    expect(read({ ...required, ssl_mode: 'disable' }).encryption.mode).toBe('disable')
    expect(() => read({ connection_parameters: { sslrootcert: '/etc/passwd' } })).toThrow(/"sslrootcert" is not a certificate/)
  })
  test.each<[JsonObject, RegExp]>([
    [{ connection_parameters: { host: '10.0.0.1' } }, /"connection_parameters" may not have "host"/],
    [{ connection_parameters: { options: '-c search_path=x' } }, /may not have "options"/],
    [{ connection_parameters: { target_session_attrs: 'read-write' } }, /may not have "target_session_attrs"/],
    [{ connection_parameters: 'connect_timeout=5' }, /is not an object/],
    [{ autocommit: 'perhaps' }, /"autocommit" is neither true nor false/],
  ])('%j is refused', (parameters, says) => {
    expect(() => read(parameters)).toThrow(says)
  })
})
