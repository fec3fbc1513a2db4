import { bytesToBigInt, equalBytes } from '../../lib/bytes.js'
import type { Log } from '../eth/types.js'
import type { L2NetworkName } from './networks.js'

/** `LogStateUpdate(uint256 globalRoot, int256 blockNumber, uint256 blockHash)` of the Starknet core contract: layer 1
 *  accepts this block and all before it (starkware-libs/cairo-lang, Output.sol and Starknet.sol). Topic 0, 32 bytes. */
export const LOG_STATE_UPDATE = bytesOf('d342ddf7a308dec111745b00315c14b7efb2bdae570a6856e088ed0c65a3576c')

/** A layer-2 block that layer 1 accepted. */
export interface StateUpdate {
  readonly number: number
  readonly hash: Uint8Array // 32
}

const WORD = 32

/** The state update that a log of a core contract announces; undefined for any other log, and for the number -1, with
 *  which a core contract begins. */
export function decodeStateUpdate({ topics, data }: Pick<Log, 'topics' | 'data'>): StateUpdate | undefined {
  if (topics.length !== 1 || !equalBytes(topics[0], LOG_STATE_UPDATE) || data.length !== 3 * WORD) return undefined
  const number = bytesToBigInt(data.subarray(WORD, 2 * WORD))
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  return { number: Number(number), hash: data.slice(2 * WORD) }
}

interface CoreContract {
  readonly network: L2NetworkName
  readonly l1ChainId: bigint
  readonly address: Uint8Array // 20
}

/* Addresses on which Juno (NetworkKnown), Pathfinder (pathfinder-ethereum, core_addr) and the sequencer's deployment
 * configuration agree. */
const CONTRACTS: readonly CoreContract[] = [
  { network: 'mainnet', l1ChainId: 1n, address: bytesOf('c662c410c0ecf747543f5ba90660f6abebd9c8c4') },
  { network: 'sepolia', l1ChainId: 11_155_111n, address: bytesOf('e2bb56ee936fd6433dc0f6e7e3b8365c906aa057') },
  {
    network: 'integration-sepolia',
    l1ChainId: 11_155_111n,
    address: bytesOf('4737c0c1b4d5b1a687b42610ddabee781152359c'),
  },
]

/** The network of a core contract, if it is that of a known one. */
export function networkOfCoreContract(address: Uint8Array): L2NetworkName | undefined {
  return CONTRACTS.find((contract) => equalBytes(contract.address, address))?.network
}

/** Addresses (20 bytes each) of the core contracts on a layer-1 chain; none on most. */
export function coreContractsOn(l1ChainId: bigint): readonly Uint8Array[] {
  return CONTRACTS.filter((contract) => contract.l1ChainId === l1ChainId).map(({ address }) => address)
}

function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, 'hex'))
}
