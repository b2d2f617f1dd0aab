/**
 * What `@jest/globals` gives to tests that Node itself imports (jest-runtime.cjs). Modules stay loaded from one file of tests to the
 * next, so these names change with the file.
 */
export let expect, test, it, describe, beforeAll, beforeEach, afterEach, afterAll, jest

export const use = (globals) => {
  ;({ expect, test, it, describe, beforeAll, beforeEach, afterEach, afterAll, jest } = globals)
}
