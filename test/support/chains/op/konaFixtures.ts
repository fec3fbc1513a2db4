import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keccak256 } from '../../../../src/chain/crypto.js'
import { decodeTransaction } from '../../../../src/chain/eth/transaction.js'
import type { Header, Transaction } from '../../../../src/chain/eth/types.js'
import { equalBytes } from '../../../../src/lib/bytes.js'
import { parseHex } from '../../../../src/lib/hex.js'
import { temporaryDirectory } from '../../temporary.js'

/** A block of OP Sepolia with the state that it reads, as the executor of kona (MIT) keeps it for its tests. */
export interface KonaFixture {
  readonly parent: Header
  /** The fields of the block's header that do not follow from its execution. */
  readonly header: Pick<Header, 'timestamp' | 'mixHash' | 'miner' | 'parentBeaconBlockRoot' | 'gasLimit' | 'extraData'>
  readonly transactions: readonly Transaction[]
  /** 32 bytes. */
  readonly hash: Uint8Array
  /** Trie nodes, codes and headers. */
  readonly preimages: readonly Uint8Array[]
}

/** The folder with them: `crates/proof/executor/testdata` of github.com/op-rs/kona. */
const FOLDER = process.env.KONA_FIXTURES

/** Why tests of these blocks are skipped; false when the folder is there. */
export const SKIP_KONA: false | string =
  (FOLDER === undefined || !existsSync(FOLDER)) && 'no folder KONA_FIXTURES with block-*.tar.gz of kona'

/** Names of the blocks in the folder. */
export function konaFixtures(): string[] {
  if (SKIP_KONA) return []
  return readdirSync(FOLDER!).flatMap((file) => /^(block-\d+)\.tar\.gz$/.exec(file)?.[1] ?? [])
}

interface FixtureJson {
  readonly parent_header: Readonly<Record<string, string>>
  readonly executing_payload: Readonly<Record<string, string>> & { readonly transactions: readonly string[] }
  readonly expected_block_hash: string
}

/** Unpacks and reads a block. */
export function readKonaFixture(t: { after(callback: () => void): void }, name: string): KonaFixture {
  const folder = temporaryDirectory(t)
  const unpacked = spawnSync('tar', ['xf', join(FOLDER!, `${name}.tar.gz`), '-C', folder], { encoding: 'utf8' })
  if (unpacked.status !== 0) throw new Error(`tar: ${unpacked.stderr}`)
  const json = JSON.parse(readFileSync(join(folder, name, 'fixture.json'), 'utf8')) as FixtureJson
  const payload = json.executing_payload
  const store = join(folder, name, 'kv')
  const logs = readdirSync(store).filter((file) => /^\d+\.log$/.test(file))
  return {
    parent: readHeader(json.parent_header),
    header: {
      timestamp: BigInt(payload.timestamp),
      mixHash: parseHex(payload.prevRandao),
      miner: parseHex(payload.suggestedFeeRecipient),
      parentBeaconBlockRoot: parseHex(payload.parentBeaconBlockRoot),
      gasLimit: BigInt(payload.gasLimit),
      extraData: parseHex(`0x00${payload.eip1559Params.slice(2)}`),
    },
    transactions: payload.transactions.map((bytes) => decodeTransaction(parseHex(bytes))),
    hash: parseHex(json.expected_block_hash),
    preimages: logs.flatMap((file) => readPreimages(readFileSync(join(store, file)))),
  }
}

/** A header of Holocene: its hash, which the object lacks, is checked by that of its child. */
function readHeader(json: Readonly<Record<string, string>>): Header {
  const data = (name: string) => parseHex(json[name])
  const quantity = (name: string) => BigInt(json[name])
  return {
    ...{ parentHash: data('parentHash'), unclesHash: data('sha3Uncles'), miner: data('miner') },
    ...{ stateRoot: data('stateRoot'), transactionsRoot: data('transactionsRoot'), receiptsRoot: data('receiptsRoot') },
    ...{ logsBloom: data('logsBloom'), difficulty: quantity('difficulty'), number: Number(json.number) },
    ...{ gasLimit: quantity('gasLimit'), gasUsed: quantity('gasUsed'), timestamp: quantity('timestamp') },
    ...{ extraData: data('extraData'), mixHash: data('mixHash'), nonce: data('nonce') },
    ...{ baseFeePerGas: quantity('baseFeePerGas'), withdrawalsRoot: data('withdrawalsRoot') },
    ...{ blobGasUsed: quantity('blobGasUsed'), excessBlobGas: quantity('excessBlobGas') },
    parentBeaconBlockRoot: data('parentBeaconBlockRoot'),
  }
}

/** Bytes of a block of the log, and of a header of a part in it. */
const LOG_BLOCK = 32_768
const PART_HEADER = 7
/** Types of parts. */
const [FULL, FIRST, , LAST] = [1, 2, 3, 4]
const PUT = 1

/** The values of a log of RocksDB (its wiki: Write Ahead Log File Format), whose keys are their hashes. */
function readPreimages(log: Buffer): Uint8Array[] {
  const values: Uint8Array[] = []
  let parts: Buffer[] = []
  for (let at = 0; at + PART_HEADER <= log.length; ) {
    const left = LOG_BLOCK - (at % LOG_BLOCK)
    const type = log[at + 6]
    if (left < PART_HEADER || type === 0) {
      at += left
      continue
    }
    const length = log.readUInt16LE(at + 4)
    const part = log.subarray(at + PART_HEADER, at + PART_HEADER + length)
    parts = type === FULL || type === FIRST ? [part] : [...parts, part]
    if (type === FULL || type === LAST) values.push(...readBatch(Buffer.concat(parts)))
    at += PART_HEADER + length
  }
  return values
}

/** The values that a batch puts: after its sequence number and count. */
function* readBatch(batch: Buffer): Generator<Uint8Array> {
  let at = 12
  const bytes = (): Buffer => {
    let length = 0
    for (let shift = 0; ; shift += 7) {
      const byte = batch[at++]
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    at += length
    return batch.subarray(at - length, at)
  }
  while (at < batch.length) {
    if (batch[at++] !== PUT) throw new Error('a batch has more than values')
    const [key, value] = [bytes(), bytes()]
    if (!equalBytes(keccak256(value), key)) throw new Error(`${key.toString('hex')} is not the hash of its value`)
    yield value
  }
}
