/**
 * Node itself imports the tests (jest-runtime.cjs), and this module stands in for `@jest/globals` there. Modules stay loaded from one test
 * file to the next, so these names change with the file.
 */
export let expect, test, it, describe, beforeAll, beforeEach, afterEach, afterAll, jest

export const use = (globals) => {
  ;({ expect, test, it, describe, beforeAll, beforeEach, afterEach, afterAll, jest } = globals)
}
