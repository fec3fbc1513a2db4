import assert from 'node:assert/strict'
import { formatQuantity } from '../../../src/lib/hex.js'
import type { SeededRandom } from '../random.js'
import { ask, resultOf } from '../rpcClient.js'
import { untilValue } from '../until.js'
import { callEngine } from './engineClient.js'
import { childOf, invalidPayloads } from './invalidPayloads.js'
import type { BuiltPayload, PayloadChain } from './payloadChain.js'
import { forkChoiceOf, type SentPayload } from './payloads.js'
import type { Difference, SideBySide } from './sideBySide.js'

/** What a driver did. */
export interface DriverCounts {
  payloads: number
  reorgs: number
  deepest: number
  /** Different depths of reorgs. */
  depths: number
  invalid: number
  missed: number
  oldHeads: number
  finalized: number
}

/** Plays a consensus client over two nodes. */
export class ConsensusDriver {
  readonly counts: DriverCounts = {
    payloads: 0,
    reorgs: 0,
    deepest: 0,
    depths: 0,
    invalid: 0,
    missed: 0,
    oldHeads: 0,
    finalized: 0,
  }
  private readonly nodes: SideBySide
  private readonly chain: PayloadChain
  private readonly random: SeededRandom
  /** The canonical chain from block 1 on. */
  private readonly trunk: BuiltPayload[] = []
  private safe: string
  private finalized: string
  private finalizedNumber = 0
  private readonly depths = new Set<number>()

  constructor(nodes: SideBySide, chain: PayloadChain, random: SeededRandom) {
    this.nodes = nodes
    this.chain = chain
    this.random = random
    this.safe = chain.genesisHash
    this.finalized = chain.genesisHash
  }

  /** By how many blocks the newest one is above the finalized one: a reorg may be one less deep. */
  get unfinalized(): number {
    return this.trunk.length - this.finalizedNumber
  }

  private get newest(): BuiltPayload {
    return this.trunk[this.trunk.length - 1]
  }

  private state(headBlockHash: string) {
    return { headBlockHash, safeBlockHash: this.safe, finalizedBlockHash: this.finalized }
  }

  private async sendPayload(payload: SentPayload, options: { difference?: Difference; what?: string } = {}) {
    this.counts.payloads++
    const { method, params, hash: own, parentHash: parent } = payload
    return this.nodes.send(method, params, { own, parent, ...options })
  }

  private async choose(payload: SentPayload, what?: string): Promise<string> {
    const { hash: own, parentHash: parent } = payload
    return this.nodes.send(forkChoiceOf(payload), [this.state(own), null], { own, parent, what })
  }

  /** Builds the next block, sends it, and makes it the head. */
  async extend(): Promise<void> {
    const built = await this.chain.add()
    this.trunk.push(built)
    assert.equal(await this.sendPayload(built.payload), 'VALID own')
    assert.equal(await this.choose(built.payload), 'VALID own')
  }

  /** Leaves the newest `depth` blocks for a branch that is one block longer. */
  async reorg(depth: number): Promise<void> {
    const ancestor = this.trunk.length - depth
    this.safe = this.finalized // it may be on the branch that is left
    this.chain.rewind(ancestor)
    this.trunk.length = ancestor
    for (let i = 0; i <= depth; i++) {
      const built = await this.chain.add()
      this.trunk.push(built)
      await this.sendPayload(built.payload, { difference: 'sidePayload', what: `reorg of ${depth}` })
    }
    assert.equal(await this.choose(this.newest.payload, `reorg of ${depth}`), 'VALID own')
    this.counts.reorgs++
    this.counts.deepest = Math.max(this.counts.deepest, depth)
    this.counts.depths = this.depths.add(depth).size
  }

  /** Sends blocks out of order: the parents of the head come late. */
  async miss(): Promise<void> {
    const built = [await this.chain.add(), await this.chain.add(), await this.chain.add()]
    const [first, second, last] = built.map(({ payload }) => payload)
    this.trunk.push(...built)
    assert.equal(await this.sendPayload(last, { what: 'without its parents' }), 'SYNCING null')
    assert.equal(await this.choose(last, 'without its parents'), 'SYNCING null')
    assert.equal(await this.sendPayload(first), 'VALID own')
    // On top of one that is not the head: Cairn holds it, too.
    assert.equal(await this.sendPayload(second), 'VALID own')
    assert.equal(await this.sendPayload(last), 'VALID own')
    assert.equal(await this.choose(last), 'VALID own')
    this.counts.missed++
  }

  /** Names an ancestor as the head, and then the head again. */
  async oldHead(): Promise<void> {
    const back = 1 + this.random.below(Math.min(4, this.trunk.length - this.finalizedNumber - 1))
    const old = this.trunk[this.trunk.length - 1 - back].payload
    const state = { headBlockHash: old.hash, safeBlockHash: this.finalized, finalizedBlockHash: this.finalized }
    await this.nodes.send(forkChoiceOf(old), [state, null], { own: old.hash, what: 'old head' })
    assert.equal(await this.choose(this.newest.payload, 'head after an old one'), 'VALID own')
    this.counts.oldHeads++
  }

  /** Sends known payloads again. */
  async repeat(): Promise<void> {
    const { payload } = this.trunk[this.random.below(this.trunk.length)]
    assert.equal(await this.sendPayload(payload, { what: 'repeated' }), 'VALID own')
    assert.equal(await this.choose(this.newest.payload, 'repeated'), 'VALID own')
  }

  /** Finalizes blocks `depth` below the head; names blocks that are not in the chain first. */
  async finalize(depth: number): Promise<void> {
    const number = this.trunk.length - depth
    if (number <= this.finalizedNumber) return
    const { payload } = this.newest
    const unknown = `0x${'99'.repeat(32)}`
    for (const wrong of [{ finalizedBlockHash: unknown }, { safeBlockHash: unknown }]) {
      const params = [{ ...this.state(payload.hash), ...wrong }, null]
      assert.equal(await this.nodes.send(forkChoiceOf(payload), params, { what: 'unknown finality' }), 'error -38002')
    }
    this.finalizedNumber = number
    this.finalized = this.trunk[number - 1].payload.hash
    this.safe = this.trunk[Math.min(this.trunk.length, number + (depth >> 1)) - 1].payload.hash
    assert.equal(await this.choose(payload), 'VALID own')
    this.counts.finalized++
  }

  /** Finalizes a block beside a branch, and names that branch. */
  async againstFinality(): Promise<void> {
    const branch = [await this.chain.add(), await this.chain.add()]
    for (const { payload } of branch) await this.sendPayload(payload, { what: 'branch to be left' })
    this.chain.rewind(this.trunk.length)
    for (let i = 0; i < 3; i++) await this.extend()
    await this.finalize(2)
    assert.equal(await this.choose(branch[1].payload, 'branch without the finalized block'), 'error -38002')
    assert.equal(await this.choose(this.newest.payload, 'after it'), 'VALID own')
  }

  /** Sends all invalid forms of the next block, then children of them, and the valid block at last. */
  async invalid(): Promise<void> {
    const built = await this.chain.add()
    const { block, blockAccessList, parent } = built
    const cases = invalidPayloads(block, parent, blockAccessList)
    for (const { what, payload, difference } of cases) {
      const status = await this.sendPayload(payload, { what, difference })
      assert.match(status, /^INVALID/, what)
      this.counts.invalid++
    }
    const [{ payload: bad }] = cases
    const child = childOf(bad, block, blockAccessList)
    const grandchild = childOf(child, block, blockAccessList)
    for (const each of [child, grandchild]) {
      const { method, params, hash: own } = each
      const options = { own, parent: built.payload.parentHash, what: 'descendant of an invalid one' }
      assert.equal(await this.nodes.send(method, params, options), 'INVALID parent')
    }
    for (const head of [bad, child]) {
      const named = { own: head.hash, parent: built.payload.parentHash, what: 'invalid head' }
      assert.equal(await this.nodes.send(forkChoiceOf(head), [this.state(head.hash), null], named), 'INVALID parent')
    }
    const { method, params } = built.payload
    const otherHash = [{ ...(params[0] as object), blockHash: `0x${'42'.repeat(32)}` }, ...params.slice(1)]
    assert.equal(await this.nodes.send(method, otherHash, { what: 'wrong hash' }), 'INVALID null')
    this.trunk.push(built)
    assert.equal(await this.sendPayload(built.payload), 'VALID own')
    assert.equal(await this.choose(built.payload), 'VALID own')
  }

  /** A branch whose last but one block is invalid: the fork choice finds that. */
  async invalidBranch(): Promise<void> {
    if (this.trunk.length - this.finalizedNumber < 3) return
    this.safe = this.finalized
    const before = [...this.trunk]
    const ancestor = this.trunk.length - 2
    this.chain.rewind(ancestor)
    const first = await this.chain.add()
    const second = await this.chain.add()
    await this.sendPayload(first.payload, { difference: 'sidePayload', what: 'branch with an invalid block' })
    const [{ payload: bad }] = invalidPayloads(second.block, second.parent, second.blockAccessList)
    await this.sendPayload(bad, { difference: 'invalidSidePayload', what: 'invalid block of a branch' })
    const status = await this.choose(bad, 'branch with an invalid block')
    assert.equal(status, 'INVALID parent')
    assert.equal(await this.sendPayload(bad, { what: 'again' }), 'INVALID parent')
    // The head is the old one still.
    this.trunk.length = 0
    this.trunk.push(...before)
    assert.equal(await this.choose(this.newest.payload, 'after an invalid branch'), 'VALID own')
    // Continue from the valid block of the branch: the builder is there.
    this.chain.rewind(ancestor + 1)
    this.trunk.length = ancestor
    this.trunk.push(first)
    const third = await this.chain.add()
    this.trunk.push(third)
    await this.sendPayload(third.payload, { difference: 'sidePayload', what: 'valid end of the branch' })
    assert.equal(await this.choose(third.payload, 'valid end of the branch'), 'VALID own')
    this.counts.reorgs++
  }

  /** Sends what is answered differently, beside payloads of branches and access lists. */
  async differing(): Promise<void> {
    const { payload, block } = this.newest
    const [{ blobGasUsed: _, excessBlobGas: __, blockAccessList: ___, slotNumber: ____, ...shanghai }] =
      payload.params as { [name: string]: unknown }[]
    await this.nodes.send('engine_newPayloadV2', [shanghai], { difference: 'laterFork' })
    const range = ['0x1', '0x21']
    await this.nodes.send('engine_getPayloadBodiesByRangeV1', range, { difference: 'bodiesBeyond' })
    const attributes = {
      timestamp: formatQuantity(block.header.timestamp + 10n),
      prevRandao: payload.hash,
      suggestedFeeRecipient: `0x${'11'.repeat(20)}`,
      withdrawals: [],
      parentBeaconBlockRoot: payload.hash,
      ...(block.header.slotNumber && { slotNumber: formatQuantity(block.header.slotNumber + 1n) }),
    }
    const params = [this.state(payload.hash), attributes]
    await this.nodes.send(forkChoiceOf(payload), params, { own: payload.hash, difference: 'attributes' })
  }

  /** One random step. */
  async step(deepest: number): Promise<void> {
    const room = Math.min(this.trunk.length - this.finalizedNumber - 1, deepest)
    const kind = this.random.below(16)
    if (room > 1 && kind < 4) return this.reorg(1 + this.random.below(room))
    if (room > 1 && kind === 4) return this.oldHead()
    if (this.trunk.length > 0 && kind === 5) return this.repeat()
    if (kind === 6) return this.invalid()
    if (kind === 7) return this.miss()
    if (room > 3 && kind === 8) return this.invalidBranch()
    if (room > 12 && kind === 9) return this.finalize(8)
    return this.extend()
  }

  /** Sends Cairn the newest payload and the fork choice until it has reached it: it begins, or was away. */
  async catchUp(): Promise<void> {
    const { payload } = this.newest
    const { cairn } = this.nodes
    const choose = async () => {
      await callEngine(cairn.engineUrl, payload.method, payload.params)
      await callEngine(cairn.engineUrl, forkChoiceOf(payload), [this.state(payload.hash), null])
      const { result } = await ask(cairn.url, 'eth_getBlockByNumber', ['latest', false])
      return (result as { hash: string } | null | undefined)?.hash
    }
    await untilValue(choose, (hash) => hash === payload.hash)
  }

  /** Number of the finalized block. */
  get finalizedBlock(): number {
    return this.finalizedNumber
  }

  /** Compares head, safe and finalized blocks, and all blocks from `first` on with their receipts. */
  async compareChains(first = 1): Promise<void> {
    const { geth, cairn } = this.nodes
    for (const tag of ['latest', 'safe', 'finalized']) {
      const [a, b] = await Promise.all(
        [geth, cairn].map(({ url }) => resultOf<{ hash: string } | null>(url, 'eth_getBlockByNumber', [tag, false])),
      )
      assert.equal(b?.hash, a?.hash, tag)
    }
    for (let number = first; number <= this.trunk.length; number++) {
      const [a, b] = await Promise.all(
        [geth, cairn].map(({ url }) => resultOf(url, 'eth_getBlockReceipts', [formatQuantity(number)])),
      )
      assert.deepEqual(b, a, `receipts of block ${number}`)
    }
    const hashes = this.trunk.slice(-20).map(({ payload }) => payload.hash)
    const from = Math.max(first, this.trunk.length - 25)
    for (const version of [1, 2]) {
      await this.nodes.send(`engine_getPayloadBodiesByHashV${version}`, [[...hashes, `0x${'77'.repeat(32)}`]])
      const range = [formatQuantity(from), '0x20']
      await this.nodes.send(`engine_getPayloadBodiesByRangeV${version}`, range)
    }
  }
}
