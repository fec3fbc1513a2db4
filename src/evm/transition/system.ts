import { sha256 } from 'ethereum-cryptography/sha256.js'
import type { Log } from '../../chain/eth/types.js'
import { bytesToBigInt, concatBytes, equalBytes } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import { parseHex } from '../../lib/hex.js'

/** A required system contract is missing, failed, or returned something unreadable: the block is invalid. */
export class SystemCallFailed extends CairnError {}

/** 20 bytes. */
export const SYSTEM_ADDRESS = parseHex('0xfffffffffffffffffffffffffffffffffffffffe') // EIP-4788
/** EIP-4788. */
export const SYSTEM_CALL_GAS = 30_000_000n
/** Additional state gas of a system call, for 16 slots (EIP-8037). */
export const SYSTEM_CALL_STATE_GAS = 1_566_720n

/** The deposits in the logs, concatenated (EIP-6110). @throws SystemCallFailed if a deposit log is malformed. */
export function readDeposits(logs: readonly Log[], depositContract: Uint8Array = new Uint8Array(20)): Uint8Array {
  return concatBytes(...logs.filter((log) => isDeposit(log, depositContract)).map(readDeposit))
}

/** The requests hash over the requests of each type, from type 0 (EIP-7685): 32 bytes. */
export function hashRequests(requests: readonly Uint8Array[]): Uint8Array {
  const hashes = requests.flatMap((data, type) =>
    data.length === 0 ? [] : [sha256(concatBytes(Uint8Array.of(type), data))],
  )
  return sha256(concatBytes(...hashes))
}

const DEPOSIT_TOPIC = parseHex('0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5') // EIP-6110

function isDeposit({ address, topics }: Log, depositContract: Uint8Array): boolean {
  return equalBytes(address, depositContract) && topics.length > 0 && equalBytes(topics[0], DEPOSIT_TOPIC)
}

// EIP-6110: the ABI encoding of the event must have exactly this layout. Offsets and lengths in bytes.
const DEPOSIT_DATA_LENGTH = 576
const DEPOSIT_FIELDS = [
  { name: 'pubkey', pointer: 160n, length: 48n },
  { name: 'withdrawal credentials', pointer: 256n, length: 32n },
  { name: 'amount', pointer: 320n, length: 8n },
  { name: 'signature', pointer: 384n, length: 96n },
  { name: 'index', pointer: 512n, length: 8n },
]

function readDeposit({ data }: Log): Uint8Array {
  if (data.length !== DEPOSIT_DATA_LENGTH) {
    throw new SystemCallFailed(`deposit log: expected ${DEPOSIT_DATA_LENGTH} bytes of data, got ${data.length}`)
  }
  const word = (offset: number) => bytesToBigInt(data.subarray(offset, offset + 32))
  const parts = DEPOSIT_FIELDS.map(({ name, pointer, length }, index) => {
    if (word(index * 32) !== pointer || word(Number(pointer)) !== length) {
      throw new SystemCallFailed(`deposit log: ${name} is not where EIP-6110 lays it`)
    }
    const start = Number(pointer) + 32
    return data.subarray(start, start + Number(length))
  })
  return concatBytes(...parts)
}
