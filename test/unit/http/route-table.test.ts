import { expect, test } from '@jest/globals'
import { RouteTable } from '../../../src/http/server/route-table.js'

const table = new RouteTable(
  [
    'get /',
    'get /projects',
    'post /projects',
    'get /projects/:project',
    'delete /projects/:project/skills/:skill',
    'get /events/:position',
    'get /events/stream',
    'post /databases/status',
    'get /databases/:database',
    'put /databases/:database',
    'get /databases/:name/tables/:table',
  ].map((line) => {
    const [method = '', path = ''] = line.split(' ')
    return { method, path }
  }),
)

test.each([
  ['GET', '/', '/', {}],
  ['HEAD', '/projects', '/projects', {}],
  ['GET', '/projects/', '/projects', {}],
  ['GET', '/PROJECTS/Shop', '/projects/:project', { project: 'Shop' }],
  ['DELETE', '/projects/a%2Fb/skills/%C3%BC', '/projects/:project/skills/:skill', { project: 'a/b', skill: 'ü' }],
  ['GET', '/events/7', '/events/:position', { position: '7' }],
  ['GET', '/events/stream', '/events/stream', {}],
  ['POST', '/databases/status', '/databases/status', {}],
  ['GET', '/databases/status', '/databases/:database', { database: 'status' }],
  ['GET', '/databases/d/tables/t', '/databases/:name/tables/:table', { name: 'd', table: 't' }],
])('%s %s is found at %s', (method, path, template, segments) =>
  expect(table.find(method, path)).toMatchObject({ found: { path: template }, template, segments }),
)

test.each(['//', '//projects', '/projects//', '/projects/x/skills', '/nothing', '/projects/x/'.repeat(2)])('nothing is at %s', (path) =>
  expect(table.find('GET', path)).toBeUndefined(),
)

test('an address without the method tells those it has, of all routes that it fits', () => {
  expect(table.find('PATCH', '/projects')).toMatchObject({ found: undefined, allowed: ['GET', 'HEAD', 'POST'] })
  expect(table.find('PATCH', '/databases/status')).toMatchObject({ found: undefined, allowed: ['GET', 'HEAD', 'POST', 'PUT'] })
})

test('a name that is not well-formed is refused, whatever the method', () => {
  for (const method of ['GET', 'PATCH']) expect(() => table.find(method, '/projects/%ff')).toThrow(URIError)
})

test('two routes of one method and address are a fault', () =>
  expect(() => new RouteTable(['/a/:b', '/A/:c'].map((path) => ({ method: 'get', path })))).toThrow('two routes'))
