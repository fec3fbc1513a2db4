import { equalBytes } from '../../../lib/bytes.js'
import { EMPTY_UNCLES_HASH } from '../emptyHashes.js'
import { type GenesisJson, InvalidGenesis, readUint, requireObject } from '../genesisFields.js'
import { hashHeader } from '../header.js'
import type { Header } from '../types.js'
import { recoverSealer } from './bft/extraData.js'
import { ethereum, verifyBlobGas } from './ethereum.js'
import type { Family, HeaderContext } from './family.js'

const VANITY = 32
const SEAL = 65
const ADDRESS = 20
/** Blocks between two lists of signers, where the genesis names no other number (EIP-225). */
const EPOCH = 30_000n

/** Chains sealed by clique (EIP-225): old test networks, development chains of geth before the merge, Linea. */
export const clique: Family = {
  ...ethereum,
  name: 'clique',
  title: 'clique',
  chosenBy: '--genesis with config.clique',
  isExecuted: false,
  verifyHeader: (header, context) => {
    if (context.rules.isProofOfStake) {
      ethereum.verifyHeader(header, context)
      return
    }
    verifyExtraData(header, context)
    verifyConstants(header, context)
    verifyBlobGas(header, context)
  },
  readConfig: (config: GenesisJson) => {
    if (config.clique === undefined || config.clique === null) return undefined
    const epoch = readUint(requireObject(config.clique, 'config.clique').epoch ?? EPOCH, 'config.clique.epoch', 32)
    if (epoch === 0n) throw new InvalidGenesis('config.clique.epoch: expected at least 1, got 0')
    return { family: 'clique', ethash: false, clique: { epoch: Number(epoch) } }
  },
  formatConfig: ({ clique }) => ({ clique: { epoch: BigInt(clique!.epoch) } }),
}

/** Every `epoch`-th block has the list of signers. Which signers are allowed is not checked: it depends on all votes
 *  since such a block. */
function verifyExtraData(header: Header, { spec, refuse }: HeaderContext): void {
  const { extraData, number } = header
  const signers = extraData.length - VANITY - SEAL
  if (signers < 0) refuse('extra data', `at least ${VANITY + SEAL} bytes`, `${extraData.length} bytes`)
  const hasList = number % spec.clique!.epoch === 0
  if (hasList ? signers % ADDRESS !== 0 || signers === 0 : signers !== 0) {
    refuse('extra data', hasList ? 'a list of signers' : 'no list of signers', `${signers} bytes`)
  }
  try {
    signerOf(header)
  } catch (error) {
    refuse('seal', 'a signature', (error as Error).message)
  }
}

/** Returns the signer of a block, 20 bytes, from its seal. @throws Error when no key can have made it */
export function signerOf(header: Header): Uint8Array {
  const { extraData } = header
  const at = extraData.length - SEAL
  return recoverSealer(hashHeader({ ...header, extraData: extraData.subarray(0, at) }), extraData.subarray(at))
}

const NONCES = [new Uint8Array(8), new Uint8Array(8).fill(255)]
const NO_MIX_HASH = new Uint8Array(32)

function verifyConstants(header: Header, { refuse }: HeaderContext): void {
  const { difficulty, nonce, mixHash, unclesHash } = header
  if (difficulty !== 1n && difficulty !== 2n) refuse('difficulty', '1 or 2', difficulty)
  if (!NONCES.some((each) => equalBytes(nonce, each))) refuse('nonce', 'all zero or all ones', nonce)
  if (!equalBytes(mixHash, NO_MIX_HASH)) refuse('mix hash', NO_MIX_HASH, mixHash)
  if (!equalBytes(unclesHash, EMPTY_UNCLES_HASH)) refuse('uncles hash', EMPTY_UNCLES_HASH, unclesHash)
}
