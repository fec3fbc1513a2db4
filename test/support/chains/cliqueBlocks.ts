import { signHash } from '../../../src/chain/crypto.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import type { Header } from '../../../src/chain/eth/types.js'
import { compareBytes, concatBytes, padLeft } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import { addressOfPrivateKey } from '../signing.js'

/* Headers that the tests sign as clique does (EIP-225). */

const KEYS = [1, 2, 3, 4]
  .map((n) => padLeft(Uint8Array.of(n), 32))
  .sort((a, b) => compareBytes(addressOfPrivateKey(a), addressOfPrivateKey(b)))
/** Addresses of the keys in ascending order, 20 bytes each. */
export const SIGNERS = KEYS.map(addressOfPrivateKey)

/** How a block is signed. */
export interface CliqueSeal {
  /** Index of the signer. */
  signer: number
  /** Whom it votes on, by index, and whether to add it. */
  vote?: { candidate: number; adds: boolean }
  /** Signers of a block with a list, by index. */
  list?: readonly number[]
  difficulty?: bigint
}

/** A genesis whose signers are the first three addresses. */
export function cliqueGenesis(epoch: number) {
  const list = SIGNERS.slice(0, 3).map((each) => formatData(each).slice(2))
  return {
    config: { chainId: 1338, berlinBlock: 0, clique: { period: 1, epoch } },
    gasLimit: '0x1c9c380',
    difficulty: '0x1',
    extraData: `0x${'00'.repeat(32)}${list.join('')}${'00'.repeat(65)}`,
    alloc: {},
  }
}

/** Signs a header on top of a parent. The difficulty is that of the signer's turn among `signers`. */
export function signCliqueHeader(parent: { header: Header; hash: Uint8Array }, seal: CliqueSeal, signers: number) {
  const { signer, vote, list = [] } = seal
  const number = parent.header.number + 1
  const header: Header = {
    ...parent.header,
    parentHash: parent.hash,
    number,
    timestamp: parent.header.timestamp + 1n,
    difficulty: seal.difficulty ?? (number % signers === signer ? 2n : 1n),
    miner: vote ? SIGNERS[vote.candidate] : new Uint8Array(20),
    nonce: new Uint8Array(8).fill(vote?.adds ? 255 : 0),
    extraData: concatBytes(new Uint8Array(32), ...list.map((index) => SIGNERS[index])),
  }
  const { r, s, recoveryId } = signHash(hashHeader(header), KEYS[signer])
  header.extraData = concatBytes(header.extraData, r, s, Uint8Array.of(recoveryId))
  return { header, hash: hashHeader(header) }
}
