import { encodeBlock } from '../chain/eth/block.js'
import { BEACON_ROOTS } from '../chain/eth/forks/cancun.js'
import {
  builtInGenesis,
  builtInSpec,
  type GenesisAccount,
  NETWORKS,
  type Network,
  parseGenesis,
} from '../chain/eth/genesis.js'
import { hashHeader } from '../chain/eth/header.js'
import type { Header } from '../chain/eth/types.js'
import { bigIntToBytes, equalBytes, padLeft } from '../lib/bytes.js'
import { formatQuantity } from '../lib/hex.js'
import {
  callOptional,
  fetchDevelopmentConfig,
  fetchKnownAccounts,
  fetchNodeConfig,
  hashGenesis,
} from '../sources/ethRpc/developmentGenesis.js'
import { fetchBlocks, fetchHeader } from '../sources/ethRpc/fetchBlocks.js'
import { parseData } from '../sources/ethRpc/fields.js'
import { UpstreamLacksData, UpstreamRpcError } from '../sources/upstreams/errors.js'
import { isObject } from '../sources/upstreams/jsonRpc.js'
import type { Upstream } from '../sources/upstreams/upstream.js'
import type { FirstBlock } from '../store/rows/chainSource.js'
import { encodeFirstBlock } from '../sync/import/recordedFixture.js'
import { createStateFetcher, fetchAccountRange } from './stateFetcher.js'

interface StartOptions {
  /** The genesis file of the node. */
  readonly genesis?: unknown
  readonly signal?: AbortSignal
}

/** Start of a recording: the block after which the state is read. */
export interface Start {
  readonly number: number
  readonly header: Header
  readonly hash: Uint8Array
  /** Absent for block 0. */
  readonly first?: FirstBlock
  readonly totalDifficulty: bigint
}

/** Returns the block before the first recorded one; block 0 if that is the first. @throws UpstreamLacksData,
 *  UpstreamInvalidResponse, UpstreamError */
export async function fetchStart(upstream: Upstream, number: number, signal: AbortSignal | undefined): Promise<Start> {
  const found = await fetchHeader(upstream, number, signal)
  if (!found) throw new UpstreamLacksData(upstream.name, `block ${number}`)
  const { header, hash } = found
  const totalDifficulty = number === 0 ? header.difficulty : (found.totalDifficulty ?? header.difficulty)
  const start = { number, header, hash, totalDifficulty }
  if (number === 0) return start
  const [raw] = await fetchBlocks(upstream, [hash], { withReceipts: true, signal })
  if (!raw) throw new UpstreamLacksData(upstream.name, `block ${number}`)
  return {
    ...start,
    first: encodeFirstBlock({ rlp: encodeBlock(raw.block), receipts: raw.receipts!, totalDifficulty }),
  }
}

/** Returns `config` of the genesis: from the file, of a built-in network, from a node that reports its own (geth with
 *  `admin`), else from a development node.
 *  @param block0 its header @param network the built-in network that the node is of */
export async function fetchConfig(
  upstream: Upstream,
  { block0, network }: { block0: Header; network: Network | undefined },
  { genesis, signal }: StartOptions,
): Promise<object> {
  if (isObject(genesis) && isObject(genesis.config)) return genesis.config
  if (network !== undefined) return { name: network, chainId: Number(builtInSpec(network).chainId) }
  return (await fetchNodeConfig(upstream, signal)) ?? fetchDevelopmentConfig(upstream, block0, signal)
}

/** Returns the built-in network whose chain id and block 0 the node has, unless a genesis file names the chain. @throws
 *  UpstreamError */
export async function findNetwork(
  upstream: Upstream,
  block0: { readonly hash: Uint8Array },
  { genesis, signal }: StartOptions,
): Promise<Network | undefined> {
  if (genesis !== undefined) return undefined
  const chainId = await upstream.call('eth_chainId', [], signal)
  return NETWORKS.find((network) => {
    if (formatQuantity(builtInSpec(network).chainId) !== chainId) return false
    const { header, accounts, hash } = builtInGenesis(network)
    return equalBytes(hash ?? hashHeader({ ...header, stateRoot: hashGenesis(accounts) }), block0.hash)
  })
}

/** Returns the first block of a recording; of block 0 it is what the header says. */
export function firstOf({ first, header, hash, totalDifficulty }: Start): FirstBlock {
  if (first) return first
  const withdrawals = header.withdrawalsRoot ? [] : undefined
  const block = { header, hash, transactions: [], uncles: [], withdrawals, sizeBytes: 0 }
  return encodeFirstBlock({ rlp: encodeBlock(block), receipts: [], totalDifficulty })
}

const BEACON_ROOTS_SLOTS = 8191n // EIP-4788

/** True for a node that does not follow EIP-4788, such as Hardhat: its contract does not have the time of the block. */
export async function omitsSystemCalls(
  upstream: Upstream,
  number: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { header } = (await fetchHeader(upstream, number, signal))!
  if (header.parentBeaconBlockRoot === undefined) return false
  const { accounts, slots } = createStateFetcher(upstream, number, signal)
  const [{ code }] = await accounts([BEACON_ROOTS])
  if (code.length === 0) return false
  const slot = padLeft(bigIntToBytes(header.timestamp % BEACON_ROOTS_SLOTS), 32)
  const [value] = await slots([{ address: BEACON_ROOTS, slot }])
  return !equalBytes(value, bigIntToBytes(header.timestamp))
}

/** Returns all accounts after `start`, if the node or the genesis file lists them all, as the state root shows. */
export async function findCompleteState(
  upstream: Upstream,
  { number, header }: Start,
  { genesis, signal }: StartOptions,
): Promise<readonly GenesisAccount[] | undefined> {
  const isComplete = (accounts: readonly GenesisAccount[]) =>
    accounts.length > 0 && equalBytes(hashGenesis(accounts), header.stateRoot)
  const file = number === 0 && isObject(genesis) ? parseGenesis(genesis).accounts : []
  if (isComplete(file)) return file
  const listed = await fetchAccountRange(upstream, number, signal)
  if (listed && isComplete(listed)) return listed
  if (number > 0) return undefined
  try {
    const known = await knownAccounts(upstream, number, { genesis, signal })
    return isComplete(known) ? known : undefined
  } catch (error) {
    // It has pruned the state of block 0.
    if (error instanceof UpstreamRpcError) return undefined
    throw error
  }
}

const MAX_OWN = 1_000

/** Returns the addresses of the node's own accounts (`eth_accounts`), at most 1,000. @throws UpstreamError */
export async function fetchOwnAccounts(upstream: Upstream, signal: AbortSignal | undefined): Promise<Uint8Array[]> {
  const own = await callOptional(upstream, 'eth_accounts', [], signal)
  if (!Array.isArray(own)) return []
  return own.slice(0, MAX_OWN).flatMap((each) => {
    const address = parseData(each)
    return address?.length === 20 ? [address] : []
  })
}

/** Returns the accounts that the node names, and those of its genesis file, as they are after a block. @throws
 *  UpstreamError */
export async function knownAccounts(
  upstream: Upstream,
  blockNumber: number,
  { genesis, signal }: StartOptions,
): Promise<GenesisAccount[]> {
  const given = blockNumber === 0 && isObject(genesis) && isObject(genesis.alloc) ? genesis.alloc : {}
  const alloc = await fetchKnownAccounts(upstream, given, { blockNumber, signal })
  return parseGenesis({ config: {}, gasLimit: 0, alloc }).accounts
}
