import { formatData, formatQuantity } from '../../lib/hex.js'
import { silentLogger } from '../../lib/logger.js'
import { requireChain } from '../../sources/ethRpc/ethRpc.js'
import { fetchBlocks, fetchHead, fetchHeader } from '../../sources/ethRpc/fetchBlocks.js'
import { fetchGroup } from '../../sources/ethRpc/fetchProofs.js'
import { fetchWitnessFrom } from '../../sources/ethRpc/fetchWitness.js'
import { PROOF_WINDOW_HELP, requestOptional } from '../../sources/ethRpc/requestState.js'
import type { UpstreamHeader } from '../../sources/ethRpc/types.js'
import { systemClock } from '../../sources/upstreams/clock.js'
import { parseUpstreamAddress } from '../../sources/upstreams/describeUrl.js'
import { StateNotAtUpstream, UpstreamOversized, UpstreamRpcError } from '../../sources/upstreams/errors.js'
import { isMissingMethod } from '../../sources/upstreams/features.js'
import { createTransport } from '../../sources/upstreams/transport.js'
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamAddress, type UpstreamLimits } from '../../sources/upstreams/types.js'
import { Upstream } from '../../sources/upstreams/upstream.js'
import { type Check, type Finding, fail, ok, PROBE_MS, runCheck, warn } from './check.js'
import type { StoredChain } from './datadir.js'
import { findStateWindow, type StateWindow } from './stateWindow.js'

/** Time limit of all checks of an upstream, in milliseconds. */
const ALL_MS = 60_000
const WINDOW_MS = 30_000
const MOST_DEPTH = 10_000
/** Two epochs: the blocks that may be replaced before they are final. */
const WANTED_DEPTH = 64
const BATCH_SIZES = [10, 100, 1000]
/** A block may be this far in the future: clients accept 15 s. */
const MOST_AHEAD_SECONDS = 15
const OLD_SECONDS = 600

/** Checks what an upstream node offers. An upstream that does not answer, or is of another chain, is not asked further.
 *  @param chain the chain of the database; undefined without one
 *  @param suffix distinguishes upstreams whose redacted URLs are the same
 *  @throws UsageError for an address that cannot be used */
export async function checkUpstream(
  address: UpstreamAddress,
  { chain, suffix = '' }: { chain: StoredChain | undefined; suffix?: string },
): Promise<Check[]> {
  const limits: UpstreamLimits = { ...DEFAULT_UPSTREAM_LIMITS, requestTimeoutMs: PROBE_MS }
  const parts = { limits, clock: systemClock, random: Math.random, log: silentLogger, suffix, spec: chain?.spec }
  const upstream = new Upstream(address, parts)
  try {
    return await new UpstreamChecks(upstream, address, limits).run(chain)
  } finally {
    upstream.close()
  }
}

/** The checks of one upstream, in order: later ones need what earlier ones found. */
class UpstreamChecks {
  readonly #upstream: Upstream
  readonly #address: UpstreamAddress
  readonly #limits: UpstreamLimits
  readonly #checks: Check[] = []
  readonly #signal = AbortSignal.timeout(ALL_MS)

  constructor(upstream: Upstream, address: UpstreamAddress, limits: UpstreamLimits) {
    this.#upstream = upstream
    this.#address = address
    this.#limits = limits
  }

  async run(chain: StoredChain | undefined): Promise<Check[]> {
    if ((await this.#add('reachable', (signal) => this.#ask(signal), unreachable)) === 'fail') return this.#checks
    if ((await this.#add('chain', (signal) => this.#compareChain(chain, signal), wrongChain)) === 'fail') {
      return this.#checks
    }
    let head: UpstreamHeader | undefined
    await this.#add('newest block', async (signal) => {
      head = await fetchHead(this.#upstream, signal)
      return describeHead(head, chain)
    })
    if (head === undefined) return this.#checks
    const { header } = head
    await this.#add('clock', () => compareClock(Number(header.timestamp), Date.now() / 1000))
    await this.#checkBlock(head)
    await this.#checkState(head)
    await this.#add('traces', (signal) => this.#trace(header.number, signal), cannotTrace)
    await this.#add('WebSocket', (signal) => this.#subscribe(signal), pollsHeads)
    // Last: some providers throttle what follows.
    await this.#add('batches', (signal) => this.#sendBatches(signal))
    return this.#checks
  }

  async #add(
    check: string,
    run: (signal: AbortSignal) => Finding | Promise<Finding>,
    { failed, timeoutMs }: { failed?: (problem: string) => Finding; timeoutMs?: number } = {},
  ): Promise<Check['result']> {
    const area = this.#upstream.name
    // Messages of upstream errors begin with the name, which is in the row already.
    const withoutName = (problem: string) => (failed ?? unusable)(problem.replace(`${area}: `, ''))
    const row = await runCheck({ area, check, timeoutMs, signal: this.#signal }, run, withoutName)
    this.#checks.push(row)
    return row.result
  }

  /** Asks for the chain id, which every node has, and for the name of the client, which some hide. */
  async #ask(signal: AbortSignal): Promise<Finding> {
    const upstream = this.#upstream
    const startedMs = performance.now()
    await upstream.call('eth_chainId', [], signal)
    const found = `in ${Math.round(performance.now() - startedMs)} ms`
    try {
      const client = await upstream.call('web3_clientVersion', [], signal)
      return ok(`${upstream.redact(String(client))}, ${found}`)
    } catch (error) {
      if (error instanceof UpstreamRpcError) return ok(`${found}; it does not name its client (web3_clientVersion)`)
      throw error
    }
  }

  async #compareChain(chain: StoredChain | undefined, signal: AbortSignal): Promise<Finding> {
    if (chain !== undefined) {
      await requireChain(this.#upstream, chain, signal)
      return ok(`chain id ${chain.chainId} and genesis are those of the database`)
    }
    const id = await this.#upstream.call('eth_chainId', [], signal)
    if (typeof id !== 'string' || !/^0x[0-9a-f]+$/i.test(id)) {
      return fail(
        `eth_chainId: expected a quantity, got ${this.#upstream.redact(JSON.stringify(id))}`,
        'use another node',
      )
    }
    return ok(`chain id ${BigInt(id)}; no database to compare it with`)
  }

  async #checkBlock({ hash, header }: UpstreamHeader): Promise<void> {
    await this.#add('block', async (signal) => {
      const [raw] = await fetchBlocks(this.#upstream, [hash], { withReceipts: true, signal })
      if (raw === undefined) return warn(`block ${header.number} is gone`, 'run the command again')
      const count = raw.block.transactions.length.toLocaleString('en')
      return ok(`hash, roots and receipts of block ${header.number} with ${count} transactions are right`)
    })
    await this.#add(
      'block receipts',
      async (signal) => {
        const answers = await requestOptional(this.#upstream, 'eth_getBlockReceipts', [[formatData(hash)]], signal)
        if (answers === undefined) return withoutReceipts('no eth_getBlockReceipts')
        const result = this.#upstream.resultOf('eth_getBlockReceipts', answers[0])
        return Array.isArray(result) ? ok('eth_getBlockReceipts') : withoutReceipts('eth_getBlockReceipts has no array')
      },
      { failed: withoutReceipts },
    )
  }

  async #checkState(head: UpstreamHeader): Promise<void> {
    const proofs = await this.#add(
      'proofs',
      async (signal) => {
        await this.#prove(head, signal)
        return ok('eth_getProof, verified at the newest block')
      },
      { failed: withoutProofs },
    )
    if (proofs === 'ok') {
      const window = (signal: AbortSignal) => this.#measureWindow(head, signal)
      await this.#add('state window', window, { timeoutMs: WINDOW_MS })
    }
    await this.#add('witnesses', (signal) => this.#fetchWitness(head, signal), {
      failed: (problem) => withoutWitness(problem, proofs === 'ok'),
    })
  }

  /** Fetches the proof of an account and verifies it. @throws StateNotAtUpstream, UpstreamError */
  async #prove({ header, hash }: UpstreamHeader, signal: AbortSignal): Promise<void> {
    const block = { number: header.number, hash, stateRoot: header.stateRoot }
    await fetchGroup(this.#upstream, { keys: [{ address: header.miner, slots: [] }], block }, signal)
  }

  async #measureWindow(head: UpstreamHeader, signal: AbortSignal): Promise<Finding> {
    const most = Math.min(MOST_DEPTH, head.header.number)
    return describeWindow(
      most,
      await findStateWindow(most, async (depth) => {
        const header = await fetchHeader(this.#upstream, head.header.number - depth, signal)
        if (header === undefined) return false
        try {
          await this.#prove(header, signal)
          return true
        } catch (error) {
          if (error instanceof StateNotAtUpstream) return false
          throw error
        }
      }),
    )
  }

  async #fetchWitness({ header, hash }: UpstreamHeader, signal: AbortSignal): Promise<Finding> {
    const { number, parentHash } = header
    if (number === 0) return ok('not checked: block 0 has none')
    const parent = await fetchHeader(this.#upstream, parentHash, signal)
    if (parent === undefined) throw new Error(`block ${number - 1} is not available`)
    const block = { number, hash, parentStateRoot: parent.header.stateRoot }
    const witness = await fetchWitnessFrom(this.#upstream, block, signal)
    if (witness === undefined) throw new Error(`no debug_executionWitness of block ${number}`)
    const [nodes, codes] = [witness.nodes, witness.codes].map(({ length }) => length.toLocaleString('en'))
    return ok(`debug_executionWitness of block ${number}: ${nodes} nodes, ${codes} codes`)
  }

  async #trace(blockNumber: number, signal: AbortSignal): Promise<Finding> {
    const method = 'debug_traceBlockByNumber'
    if (blockNumber === 0) return ok('not checked: block 0 has none')
    try {
      await this.#upstream.call(method, [formatQuantity(blockNumber), { tracer: 'callTracer' }], signal)
    } catch (error) {
      if (error instanceof UpstreamOversized) return ok(`${method}, longer than a response may be`)
      if (!(error instanceof UpstreamRpcError && isMissingMethod(error))) throw error
      return ok(`no ${method}; Cairn makes traces itself`)
    }
    return ok(method)
  }

  /** Subscribes over the same address, as ws or wss. */
  async #subscribe(signal: AbortSignal): Promise<Finding> {
    const url = new URL(this.#address.url)
    url.protocol = url.protocol.replace(/^http/, 'ws')
    const address = parseUpstreamAddress({ ...this.#address, url: url.href })
    const transport = createTransport(address, this.#limits, Date.now)
    try {
      const [answer] = await transport.send([{ method: 'eth_subscribe', params: ['newHeads'] }], signal)
      if ('result' in answer) return ok(`eth_subscribe at ${address.name}`)
      return pollsHeads.failed(`eth_subscribe: error ${answer.error.code}: ${address.redact(answer.error.message)}`)
    } finally {
      transport.close()
    }
  }

  async #sendBatches(signal: AbortSignal): Promise<Finding> {
    const address = parseUpstreamAddress(this.#address)
    const transport = createTransport(address, this.#limits, Date.now)
    let accepted = 1
    try {
      for (const size of BATCH_SIZES) {
        const answers = await transport.send(new Array(size).fill({ method: 'eth_chainId', params: [] }), signal)
        const failed = answers.find((answer) => 'error' in answer)
        if (failed && 'error' in failed)
          throw new Error(`error ${failed.error.code}: ${address.redact(failed.error.message)}`)
        accepted = size
      }
      return describeBatches(accepted)
    } catch (error) {
      if (signal.aborted && accepted === 1) throw error
      const reason = (error instanceof Error ? error.message : String(error)).replace(`${address.name}: `, '')
      return describeBatches(accepted, reason)
    } finally {
      transport.close()
    }
  }
}

/** Describes the largest batch that was answered. @param problem why the next larger one was not */
export function describeBatches(accepted: number, problem?: string): Finding {
  const reason = problem === undefined ? '' : `; more: ${problem}`
  if (accepted > 1) return ok(`${accepted.toLocaleString('en')} calls at a time${reason}`)
  return warn(`none of ${BATCH_SIZES[0]} calls${reason}`, 'blocks are fetched one by one; far behind, use another node')
}

/** Compares the clock of this machine with the time of the newest block. Both in Unix seconds. */
export function compareClock(blockTime: number, ownTime: number): Finding {
  const ahead = Math.round(blockTime - ownTime)
  if (ahead <= MOST_AHEAD_SECONDS) return ok('not behind the newest block')
  return warn(
    `${ahead.toLocaleString('en')} s behind the newest block`,
    'set the clock of this machine (NTP), or that of the node; development nodes may be ahead',
  )
}

/** Describes how far below the head states are proved, of at most `most` blocks. */
export function describeWindow(most: number, { depth, missing, problem }: StateWindow): Finding {
  const blocks = (count: number) => `${count.toLocaleString('en')} blocks below the newest`
  if (problem !== undefined) {
    const above = missing === undefined ? '' : ` and not ${missing.toLocaleString('en')}`
    const reason = problem instanceof Error ? problem.message : String(problem)
    return warn(`at least ${blocks(depth)}${above}; then: ${reason}`, 'run the command again')
  }
  if (most === 0) return ok('of block 0; there is no other')
  if (missing === undefined) {
    return ok(most < MOST_DEPTH ? `all ${blocks(depth)}` : `at least ${blocks(depth)}`)
  }
  if (depth >= WANTED_DEPTH) return ok(blocks(depth))
  return warn(
    blocks(depth),
    `sparse state ends when Cairn is further behind; use a node that keeps more states (${PROOF_WINDOW_HELP})`,
  )
}

function describeHead({ header }: UpstreamHeader, chain: StoredChain | undefined): Finding {
  const { number, timestamp } = header
  if (number === 0) return ok('0, the genesis')
  const seconds = Math.round(Date.now() / 1000 - Number(timestamp))
  const found = `${number}, ${seconds.toLocaleString('en')} s old`
  const { head } = chain ?? {}
  if (head !== undefined && number < head) {
    return warn(`${found}; the database is at block ${head}`, 'wait until the node has caught up, or use another one')
  }
  if (seconds <= OLD_SECONDS) return ok(found)
  return warn(found, 'the node may not be synchronized, or the chain makes few blocks')
}

const unusable = (problem: string) => fail(problem, 'Cairn cannot follow this node; use another one')

const unreachable = {
  failed: (problem: string) =>
    fail(
      problem,
      /status 40[13]/.test(problem) ? 'pass credentials by --upstream-header' : 'start the node, or correct the URL',
    ),
}

const wrongChain = { failed: (problem: string) => fail(problem, 'use a node of the same chain, or another --datadir') }

const cannotTrace = {
  failed: (problem: string) => ok(`debug_traceBlockByNumber fails: ${problem}; Cairn makes traces itself`),
}

const pollsHeads = {
  failed: (problem: string) =>
    warn(`none here: ${problem}`, 'new blocks are polled, which is later; use the ws URL of the node where it has one'),
}

function withoutReceipts(problem: string): Finding {
  return warn(problem, 'with --state none each receipt is a call of its own; use another node for that')
}

function withoutProofs(problem: string): Finding {
  return warn(problem, `--state sparse needs them; ${PROOF_WINDOW_HELP}, others their debug or archive options`)
}

function withoutWitness(problem: string, hasProofs: boolean): Finding {
  if (hasProofs) return ok(`${problem}; --state sparse fetches proofs instead`)
  return warn(problem, '--state sparse needs witnesses or proofs; use another node for that')
}
