import { keccak256 } from '../../chain/crypto.js'
import { requireKnownContracts, requireKnownForks } from '../../chain/eth/forkSchedule.js'
import { ALL_FORKS } from '../../chain/eth/forks/all.js'
import { FORKS, type Fork } from '../../chain/eth/forks/rules.js'
import { type GenesisAccount, parseGenesis } from '../../chain/eth/genesis.js'
import { hashHeader } from '../../chain/eth/header.js'
import { EMPTY_TRIE_ROOT } from '../../chain/eth/trie.js'
import type { Header } from '../../chain/eth/types.js'
import { equalBytes } from '../../lib/bytes.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
import { hashAccounts } from '../../trie/stateRoot.js'
import { systemClock } from '../upstreams/clock.js'
import { UpstreamError, UpstreamInvalidResponse, UpstreamLacksData, UpstreamRpcError } from '../upstreams/errors.js'
import { isObject } from '../upstreams/jsonRpc.js'
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamAddress } from '../upstreams/types.js'
import { Upstream } from '../upstreams/upstream.js'
import { fetchHeader } from './fetchBlocks.js'
import { parseData, readFields } from './fields.js'
import type { UpstreamHeader } from './types.js'

interface DevelopmentOptions {
  /** The genesis file that the node was started with, for its accounts. */
  readonly file?: unknown
  /** False: only block 0 and the rules matter. */
  readonly withState: boolean
  readonly log: Logger
  readonly signal?: AbortSignal
}

// A node that is started together with Cairn needs time to listen.
const ATTEMPTS = 60
const RETRY_MS = 500

/** Fetches the genesis, in geth's format, of the first upstream: a development node such as anvil or `geth --dev`. Its
 *  accounts are those of the file, the node's own, and the contracts that such nodes predeploy; their root must match
 *  block 0.
 *  @throws UsageError when the node's answers do not make block 0; UpstreamError when it cannot be reached for half a
 *  minute; the reason of `signal` */
export async function fetchDevelopmentGenesis(
  [address]: readonly UpstreamAddress[],
  { file, withState, log, signal }: DevelopmentOptions,
): Promise<unknown> {
  const parts = { limits: DEFAULT_UPSTREAM_LIMITS, clock: systemClock, random: Math.random, log, suffix: '' }
  const upstream = new Upstream(address, parts)
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await fetchGenesis(upstream, { file, withState, log, signal })
      } catch (error) {
        if (!isTransientUpstreamError(error) || attempt === ATTEMPTS) throw error
      }
      await systemClock.sleep(RETRY_MS, signal)
    }
  } finally {
    upstream.close()
  }
}

/** True for failures of the connection, which a retry may not have. */
export function isTransientUpstreamError(error: unknown): boolean {
  return (
    error instanceof UpstreamError && !(error instanceof UpstreamRpcError || error instanceof UpstreamInvalidResponse)
  )
}

async function fetchGenesis(upstream: Upstream, { file, withState, signal }: DevelopmentOptions): Promise<unknown> {
  const block = await fetchHeader(upstream, 0, signal)
  if (!block) throw new UpstreamLacksData(upstream.name, 'block 0')
  const { header } = block
  const config = await fetchDevelopmentConfig(upstream, header, signal)
  const given = isObject(file) && isObject(file.alloc) ? file.alloc : {}
  const alloc = withState ? await fetchFirstAccounts(upstream, given, signal) : {}
  const genesis = { config, ...genesisMembers(header), alloc }
  requireBlock(upstream, genesis, block)
  if (withState) await requireState(upstream, genesis, { header, signal })
  return genesis
}

/** Returns the rules of a development node's chain, as `config` of a genesis. Forks are active from block 0 on. @throws
 *  UsageError when the node has a fork that Cairn does not know */
export async function fetchDevelopmentConfig(
  upstream: Upstream,
  header: Header,
  signal: AbortSignal | undefined,
): Promise<object> {
  const chainId = readFields({ chainId: await upstream.call('eth_chainId', [], signal) }, 'eth_chainId')
  const config = await callOptional(upstream, 'eth_config', [], signal) // EIP-7910
  requireKnown(`${upstream.name}: eth_config`, () => requireKnownContracts(config))
  const current = isObject(config) && isObject(config.current) ? config.current : {}
  const info = await callOptional(upstream, 'anvil_nodeInfo', [], signal)
  await fetchNodeConfig(upstream, signal)
  const named = forkNamed(isObject(info) ? info.hardFork : undefined)
  const shown = named ?? forkOf(header, current)
  const isBogota = named === undefined && shown === 'osaka' && (await knowsSlotNumber(upstream, signal))
  const fork = isBogota ? 'bogota' : shown
  const later = FORKS.slice(FORKS.indexOf('shanghai'), FORKS.indexOf(fork) + 1)
  if (isBogota) later.splice(later.indexOf('amsterdam'), 1)
  return {
    chainId: formatQuantity(chainId.quantity('chainId')),
    londonBlock: 0, // and with it all forks before
    terminalTotalDifficulty: 0,
    ...Object.fromEntries(later.map((each) => [`${each}Time`, 0])),
    ...(isObject(current.blobSchedule) && { blobSchedule: { [fork]: current.blobSchedule } }),
    development: true,
  }
}

/** Returns `config` of the genesis as the node reports it; undefined where it does not. @throws UsageError when it has
 *  a fork that Cairn does not know */
export async function fetchNodeConfig(
  upstream: Upstream,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown> | undefined> {
  const info = await callOptional(upstream, 'admin_nodeInfo', [], signal)
  const protocols = isObject(info) && isObject(info.protocols) ? info.protocols : {}
  const config = isObject(protocols.eth) && isObject(protocols.eth.config) ? protocols.eth.config : undefined
  requireKnown(`${upstream.name}: admin_nodeInfo`, () => requireKnownForks(config ?? {}))
  return config
}

/** Runs a check of forks. @throws UsageError that begins with `where` when it fails */
function requireKnown(where: string, check: () => void): void {
  try {
    check()
  } catch (cause) {
    throw new UsageError(`${where}: ${messageOf(cause)}`, { cause })
  }
}

function forkNamed(name: unknown): Fork | undefined {
  const fork = FORKS.find((each) => typeof name === 'string' && each.toLowerCase() === name.toLowerCase())
  return fork && FORKS.indexOf(fork) >= FORKS.indexOf('paris') ? fork : undefined
}

/** Returns the fork of block 0, as its header shows. */
function forkOf(header: Header, { precompiles }: { precompiles?: unknown }): Fork {
  if (header.blockAccessListHash) return 'amsterdam'
  if (header.requestsHash) return isObject(precompiles) && 'P256VERIFY' in precompiles ? 'osaka' : 'prague'
  if (header.parentBeaconBlockRoot) return 'cancun'
  return header.withdrawalsRoot ? 'shanghai' : 'paris'
}

const SLOTNUM = '0x4b'

/** True if the node executes SLOTNUM (EIP-7843). Where its headers are not those of Amsterdam, it is geth in its dev
 *  mode since 1.17.5, whose chain has Bogota without Amsterdam. Only its admin methods report that. */
async function knowsSlotNumber(upstream: Upstream, signal: AbortSignal | undefined): Promise<boolean> {
  return (await callOptional(upstream, 'eth_call', [{ data: SLOTNUM, gas: '0x30d40' }, 'latest'], signal)) !== undefined
}

/** Returns the members of a genesis in geth's format that make the header of block 0. */
export function genesisMembers(header: Header): object {
  const optional = (value: bigint | undefined) => (value === undefined ? undefined : formatQuantity(value))
  return {
    stateHash: formatData(header.stateRoot),
    parentHash: formatData(header.parentHash),
    coinbase: formatData(header.miner),
    difficulty: formatQuantity(header.difficulty),
    gasLimit: formatQuantity(header.gasLimit),
    gasUsed: formatQuantity(header.gasUsed),
    timestamp: formatQuantity(header.timestamp),
    extraData: formatData(header.extraData),
    mixHash: formatData(header.mixHash),
    nonce: formatData(header.nonce),
    baseFeePerGas: optional(header.baseFeePerGas),
    blobGasUsed: optional(header.blobGasUsed),
    excessBlobGas: optional(header.excessBlobGas),
    parentBeaconBlockRoot: header.parentBeaconBlockRoot && formatData(header.parentBeaconBlockRoot),
    slotNumber: optional(header.slotNumber),
  }
}

const CREATE2_DEPLOYER = '0x4e59b44847b379578588920ca78fbf26c0b4956c' // anvil deploys it
const PRECOMPILES = 17 // geth --dev funds each with 1 wei, also the one at 0x100

/** Accounts that development nodes have by default. */
function usualAddresses(): string[] {
  const precompiles = Array.from({ length: PRECOMPILES }, (_, i) => i + 1)
  return [
    ...[...precompiles, 0x100].map((number) => `0x${number.toString(16).padStart(40, '0')}`),
    ...ALL_FORKS.systemContracts.flatMap(([, address]) => (address ? formatData(address) : [])),
    CREATE2_DEPLOYER,
  ]
}

const ACCOUNT_METHODS = ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'] as const

/** Returns `alloc` of a genesis with the accounts of block `blockNumber` as the node has them: those of `given`, with
 *  its storage, the node's own, and those that such nodes predeploy. */
export async function fetchKnownAccounts(
  upstream: Upstream,
  given: { readonly [address: string]: unknown },
  { blockNumber = 0, signal }: { blockNumber?: number; signal?: AbortSignal },
): Promise<object> {
  const own = await callOptional(upstream, 'eth_accounts', [], signal)
  const storages = new Map(Object.entries(given).map(([address, account]) => [normalise(address), storageOf(account)]))
  const addresses = new Set([
    ...storages.keys(),
    ...(Array.isArray(own) ? own.map(String).map(normalise) : []),
    ...usualAddresses(),
  ])
  const list = [...addresses]
  const calls = list.flatMap((address) =>
    ACCOUNT_METHODS.map((method) => ({ method, params: [address, formatQuantity(blockNumber)] })),
  )
  const answers = await upstream.request(calls, signal)
  const results = answers.map((answer, i) => upstream.resultOf(calls[i].method, answer))
  const entries = list.map((address, i) => {
    const [balance, nonce, code] = results.slice(i * ACCOUNT_METHODS.length)
    return [address, { balance, nonce, code, storage: storages.get(address) }] as const
  })
  return Object.fromEntries(entries.filter(([, { balance, nonce, code }]) => !isEmpty(balance, nonce, code)))
}

/** The same for block 0. @throws UsageError when the node no longer has its state */
async function fetchFirstAccounts(
  upstream: Upstream,
  given: { readonly [address: string]: unknown },
  signal: AbortSignal | undefined,
): Promise<object> {
  try {
    return await fetchKnownAccounts(upstream, given, { signal })
  } catch (cause) {
    if (!(cause instanceof UpstreamRpcError)) throw cause
    throw new UsageError(
      `--network dev: ${cause.message}: the node does not have the state of block 0; run geth with --gcmode archive and ` +
        '--state.scheme hash, or follow with --state none',
      { cause },
    )
  }
}

function normalise(address: string): string {
  return `0x${address.toLowerCase().replace(/^0x/, '')}`
}

function storageOf(account: unknown): unknown {
  return isObject(account) ? account.storage : undefined
}

function isEmpty(balance: unknown, nonce: unknown, code: unknown): boolean {
  return balance === '0x0' && nonce === '0x0' && code === '0x'
}

/** @throws UsageError when the hash of the genesis' block 0 differs from the node's */
function requireBlock({ name }: Upstream, genesis: unknown, { hash }: UpstreamHeader): void {
  const computed = hashHeader(parseGenesis(genesis).header)
  if (equalBytes(computed, hash)) return
  throw new UsageError(
    `--network dev: ${name}: block 0 has the hash ${formatData(hash)}, computed ${formatData(computed)}: its fields are not ` +
      'those of its fork; name the chain with --genesis FILE alone',
  )
}

/** @throws UsageError when the node has other accounts in block 0 */
async function requireState(
  upstream: Upstream,
  genesis: unknown,
  { header, signal }: { header: Header; signal?: AbortSignal },
): Promise<void> {
  const { accounts } = parseGenesis(genesis)
  const expected = await fetchStateRoot(upstream, header, signal)
  const computed = hashGenesis(accounts)
  if (expected === undefined || equalBytes(expected, computed)) return
  throw new UsageError(
    `--network dev: ${upstream.name}: block 0 has the state root ${formatData(expected)}, its known accounts have ` +
      `${formatData(computed)}: name the genesis file that the node was started with by --genesis FILE, or follow with --state none`,
  )
}

/** Returns the root of a state of these accounts: 32 bytes. */
export function hashGenesis(accounts: readonly GenesisAccount[]): Uint8Array {
  return hashAccounts(
    accounts.map(({ address, nonce, balance, code, storage }) => ({
      ...{ address, cleared: false, slots: storage },
      account: { nonce, balance, codeHash: keccak256(code) },
    })),
  )
}

/** Returns the state root of block 0. Anvil's header has the empty root; a proof begins with the right one. Undefined
 *  where the node has no proofs. */
async function fetchStateRoot(
  upstream: Upstream,
  { stateRoot }: Header,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  if (!equalBytes(stateRoot, EMPTY_TRIE_ROOT)) return stateRoot
  const proof = await callOptional(upstream, 'eth_getProof', [CREATE2_DEPLOYER, [], '0x0'], signal)
  const [top] = isObject(proof) && Array.isArray(proof.accountProof) ? proof.accountProof : []
  const node = parseData(top)
  return node && keccak256(node)
}

/** Returns the result of a call; undefined when the upstream answers with an error. */
export async function callOptional(
  upstream: Upstream,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal | undefined,
): Promise<unknown> {
  try {
    return await upstream.call(method, params, signal)
  } catch (error) {
    if (error instanceof UpstreamRpcError) return undefined
    throw error
  }
}
