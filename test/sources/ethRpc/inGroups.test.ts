import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inGroups } from '../../../src/sources/ethRpc/inGroups.js'

describe('inGroups', () => {
  it('runs four groups at a time, and returns results in order', async () => {
    let running = 0
    let most = 0
    const ends: (() => void)[] = []
    const results = inGroups(
      Array.from({ length: 10 }, (_, i) => i),
      async (group) => {
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => ends.push(resolve))
        running--
        return group * 2
      },
      undefined,
    )
    // The last one that waits ends first.
    for (let ended = 0; ended < 10; ended++) {
      await new Promise(setImmediate)
      ends.pop()!()
    }
    assert.deepEqual(await results, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18])
    assert.equal(most, 4)
  })

  it('aborts the other groups after a failure, and starts none', async () => {
    const started: number[] = []
    const aborted: number[] = []
    const failure = new Error('one failed')
    const running = inGroups(
      [0, 1, 2, 3, 4, 5],
      (group, signal) => {
        started.push(group)
        return new Promise<void>((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted.push(group)
            reject(signal.reason)
          })
          if (group === 2) setImmediate(() => reject(failure))
        })
      },
      undefined,
    )
    await assert.rejects(running, failure)
    await new Promise(setImmediate)
    assert.deepEqual(
      [started, aborted.sort()],
      [
        [0, 1, 2, 3],
        [0, 1, 2, 3],
      ],
    )
  })

  it('throws the reason of the signal', async () => {
    const stop = new AbortController()
    stop.abort(new Error('stopped'))
    await assert.rejects(
      inGroups([1], async () => {}, stop.signal),
      /stopped/,
    )
  })
})
