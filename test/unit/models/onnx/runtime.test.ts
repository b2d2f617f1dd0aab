import { expect, test } from '@jest/globals'
import { loadRuntime } from '../../../../src/models/engines/onnx/runtime.js'

test('a runtime that is not installed is told with what to install', async () => {
  await expect(loadRuntime('onnxruntime-that-is-not-there')).rejects.toMatchObject({
    code: 'runtime_missing',
    status: 501,
    extras: { hint: expect.stringContaining('npm install onnxruntime-node') },
  })
})
