import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callTimeoutError } from '../../../src/rpc/core/runCall.js'
import { call } from '../../../src/rpc/eth/call.js'
import { getProof } from '../../../src/rpc/eth/getProof.js'

test('a proof that ran past its time names the blocks that are fast, another call has the words of geth', () => {
  const { code, message } = callTimeoutError(5000, getProof)
  assert.equal(code, -32000)
  assert.match(message, /cannot be restored within 5s: .* ask for one of the last 128 blocks, or raise --call-timeout$/)
  assert.equal(callTimeoutError(5000, call).message, 'execution aborted (timeout = 5s)')
})
