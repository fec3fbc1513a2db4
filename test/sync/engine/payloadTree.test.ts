import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hashHeader } from '../../../src/chain/eth/header.js'
import type { RawBlock } from '../../../src/sources/source.js'
import { PayloadTree } from '../../../src/sync/engine/payloadTree.js'
import { blockAt } from '../../support/chains/blocks.js'
import { seededRandom } from '../../support/random.js'

/** A block on top of another one. */
function childOf(parentHash: Uint8Array, number: number, extraData: Uint8Array = new Uint8Array(0)): RawBlock {
  const { header, ...rest } = blockAt(number)
  const whole = { ...header, parentHash, extraData }
  return { block: { ...rest, header: whole, hash: hashHeader(whole) } }
}

const GENESIS = new Uint8Array(32).fill(9)
const isGenesis = (hash: Uint8Array) => hash === GENESIS || Buffer.compare(hash, GENESIS) === 0

/** A line of blocks on the genesis. */
function line(length: number): RawBlock[] {
  const blocks: RawBlock[] = []
  for (let number = 1; number <= length; number++) {
    blocks.push(childOf(blocks.at(-1)?.block.hash ?? GENESIS, number))
  }
  return blocks
}

describe('PayloadTree', () => {
  it('returns the branch to a block, or the first block that is missing', () => {
    const tree = new PayloadTree()
    const blocks = line(5)
    for (const raw of blocks) if (raw !== blocks[1]) tree.add(raw, 10)
    const broken = tree.branchTo(blocks[4].block.hash, isGenesis)
    assert.equal(broken.kind, 'broken')
    assert.deepEqual(broken.kind === 'broken' && broken.missing, blocks[1].block.hash)
    assert.deepEqual(broken.blocks, blocks.slice(2))
    tree.add(blocks[1], 10)
    assert.deepEqual(tree.branchTo(blocks[4].block.hash, isGenesis), { kind: 'linked', blocks })
    assert.deepEqual(tree.branchTo(GENESIS, isGenesis), { kind: 'linked', blocks: [] })
  })

  it('passes the verdict on an invalid block to its descendants, one by one', () => {
    const tree = new PayloadTree()
    const [first, second, third] = line(3)
    tree.add(first, 10)
    const verdict = { latestValidHash: GENESIS, problem: 'state root' }
    tree.invalidate(first.block.hash, verdict)
    assert.equal(tree.get(first.block.hash), undefined)
    assert.equal(tree.refusalOf(second.block.hash), undefined)
    for (const { block } of [second, third]) {
      assert.equal(tree.refusalOf(block.hash, block.header.parentHash), verdict)
      assert.equal(tree.refusalOf(block.hash), verdict)
    }
  })

  it('drops the oldest blocks at its bounds, and final ones', () => {
    const byNumber = new PayloadTree({ maxPayloads: 3 })
    const byBytes = new PayloadTree({ maxBytes: 35 })
    const blocks = line(6)
    for (const tree of [byNumber, byBytes]) {
      for (const raw of blocks) tree.add(raw, 10)
      tree.add(blocks[5], 10) // known
      assert.deepEqual([tree.size, tree.sizeBytes], [3, 30])
      assert.equal(tree.get(blocks[2].block.hash), undefined)
      tree.finalize(5)
      assert.deepEqual([tree.size, tree.sizeBytes], [1, 10])
      assert.equal(tree.get(blocks[5].block.hash), blocks[5])
    }
    byBytes.add(childOf(GENESIS, 9), 36) // larger than all that fits
    assert.equal(byBytes.size, 1)
  })

  it('never exceeds its bounds, and keeps what is newest', () => {
    const random = seededRandom(3)
    const tree = new PayloadTree({ maxPayloads: 20, maxBytes: 500 })
    const added: { raw: RawBlock; size: number }[] = []
    for (let i = 0; i < 500; i++) {
      const raw = childOf(random.bytes(32), random.below(30), random.bytes(8))
      const size = 1 + random.below(100)
      tree.add(raw, size)
      added.push({ raw, size })
      assert.ok(tree.size <= 20 && tree.sizeBytes <= 500)
      // The slow way: the longest end of the list that fits.
      let [count, bytes] = [0, 0]
      while (count < added.length && count < 20 && bytes + added[added.length - 1 - count].size <= 500) {
        bytes += added[added.length - 1 - count++].size
      }
      assert.deepEqual([tree.size, tree.sizeBytes], [count, bytes])
    }
  })
})
