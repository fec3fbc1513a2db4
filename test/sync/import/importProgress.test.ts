import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createImportProgress } from '../../../src/sync/import/importProgress.js'
import { createTarget } from '../../support/progressTarget.js'

const withoutTime = (text: string) => text.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /, 'TIME ')

test('several files are one whole, by their bytes', () => {
  const { written, clock, target } = createTarget(150)
  const progress = createImportProgress([1000, 3000], target)
  const first = progress.startFile('/some/where/1.rlp')
  first.update({ blocks: 0, transactions: 0, gas: 0, bytes: 0 })
  clock.ms = 10_000
  first.update({ blocks: 100, transactions: 2000, gas: 3e9, bytes: 500, blockNumber: 99 })
  const line = (text: string) => `\r\x1b[K${text}`
  assert.equal(
    written.at(-1),
    line('[###.................] 12 % 1.rlp (1 of 2), 10 blocks/s, 200 tx/s, 300 Mgas/s, block 99, 2 min left'),
  )
  progress.endFile('head 199')
  const second = progress.startFile('/some/where/2.rlp')
  clock.ms = 20_000
  second.update({ blocks: 100, transactions: 2000, gas: 3e9, bytes: 1000, blockNumber: 299 })
  assert.equal(
    written.at(-1),
    line('[##########..........] 50 % 2.rlp (2 of 2), 10 blocks/s, 200 tx/s, 300 Mgas/s, block 299, 20 s left'),
  )
  progress.finish('head 299')
  assert.equal(written.at(-1), line('200 blocks in 20 s, 10 blocks/s, 200 tx/s, 300 Mgas/s, head 299\n'))
})

test('without a terminal, each file leaves a line with the time, and one file the total alone', () => {
  const { written, clock, target } = createTarget()
  const progress = createImportProgress([10, 10], target)
  for (const name of ['a.rlp', 'b.ndjson']) {
    progress.startFile(name).update({ blocks: 3, transactions: 0, gas: 0, bytes: 5 })
    clock.ms += 1000
    progress.endFile('head 7')
  }
  progress.finish('head 7')
  assert.deepEqual(written.map(withoutTime), [
    'TIME a.rlp: 3 blocks, head 7\n',
    'TIME b.ndjson: 3 blocks, head 7\n',
    'TIME 6 blocks in 2.0 s, 3.0 blocks/s, head 7\n',
  ])
  const alone = createTarget()
  const single = createImportProgress([10], alone.target)
  single.startFile('a.rlp')
  single.endFile('head 7')
  single.finish('head 7')
  assert.equal(alone.written.length, 1)
})

test('files of no bytes at all have no part of a whole', () => {
  const { written, clock, target } = createTarget(80)
  const progress = createImportProgress([0], target)
  clock.ms = 1000
  progress.startFile('empty').update({ blocks: 0, transactions: 0, gas: 0 })
  assert.equal(written.at(-1), '\r\x1b[Kempty, 0.0 blocks/s')
})
