import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EngineRequests } from '../../../src/sync/thread/engineRequests.js'

const SYNCING = { status: 'SYNCING', latestValidHash: null, validationError: null }

describe('EngineRequests', () => {
  it('resolves each request with its own reply, in any order', async () => {
    const requests = new EngineRequests()
    const posted: number[] = []
    const replies = ['engine_newPayloadV4', 'engine_getBlobsV1', 'engine_newPayloadV4'].map((method) =>
      requests.add(method, (id) => void posted.push(id)),
    )
    for (const id of posted.toReversed()) requests.settle(id, { result: id })
    assert.deepEqual(
      await Promise.all(replies),
      posted.map((result) => ({ result })),
    )
  })

  it('answers late payloads and fork choices with SYNCING, and other methods with an error', async () => {
    const requests = new EngineRequests({ optimisticMs: 1, readMs: 1 })
    const ids: number[] = []
    const late = (method: string) => requests.add(method, (id) => void ids.push(id))
    assert.deepEqual(await late('engine_newPayloadV5'), { result: SYNCING })
    const chosen = { result: { payloadStatus: SYNCING, payloadId: null } }
    assert.deepEqual(await late('engine_forkchoiceUpdatedV3'), chosen)
    const { refused } = await late('engine_getPayloadBodiesByHashV1')
    assert.equal(refused?.reason, 'internal')
    for (const id of ids) requests.settle(id, { result: 'too late' }) // changes nothing
  })

  it('refuses open requests when the thread ends', async () => {
    const requests = new EngineRequests()
    const open = requests.add('engine_newPayloadV4', () => {})
    requests.fail()
    assert.equal((await open).refused?.reason, 'internal')
  })
})
