import { equalBytes } from '../../../../lib/bytes.js'
import { formatData } from '../../../../lib/hex.js'
import { EMPTY_UNCLES_HASH } from '../../emptyHashes.js'
import type { ChainSpec } from '../../forks/rules.js'
import { type GenesisJson, InvalidGenesis, readUint, requireObject } from '../../genesisFields.js'
import type { Refuse } from '../../invalidBlock.js'
import type { Header } from '../../types.js'
import { formatContractSize, readContractSizes } from '../bft/contractSize.js'
import { ethereum, verifyBlobGas } from '../ethereum.js'
import type { Family, HeaderContext } from '../family.js'
import { ADDRESS, listedSigners, SEAL, signerLimit, signerOf, signersAfter, VANITY } from './signers.js'

/** Blocks between two lists of signers, where the genesis names no other number (EIP-225). */
const EPOCH = 30_000n

/** Chains sealed by clique (EIP-225): old test networks, development chains of geth before the merge, Linea. */
export const clique: Family = {
  ...ethereum,
  name: 'clique',
  title: 'clique',
  chosenBy: '--genesis with config.clique',
  engineApi: 'none',
  execution: { beneficiary: signerOrMiner },
  recognises: ({ difficulty, extraData, mixHash }) =>
    (difficulty === 1n || difficulty === 2n) &&
    equalBytes(mixHash, NO_MIX_HASH) &&
    extraData.length >= VANITY + SEAL &&
    (extraData.length - VANITY - SEAL) % ADDRESS === 0,
  verifyHeader: (header, context) => {
    if (context.rules.isProofOfStake) {
      ethereum.verifyHeader(header, context)
      return
    }
    verifyExtraData(header, context)
    verifyConstants(header, context)
    verifySigner(header, context)
    verifyBlobGas(header, context)
  },
  readConfig: (config: GenesisJson) => {
    if (config.clique === undefined || config.clique === null) return undefined
    const { epoch: ofGeth, epochlength } = requireObject(config.clique, 'config.clique')
    const epoch = readUint(ofGeth ?? epochlength ?? EPOCH, 'config.clique.epoch', 32)
    if (epoch === 0n) throw new InvalidGenesis('config.clique.epoch: expected at least 1, got 0')
    return { family: 'clique', ethash: false, clique: { epoch: Number(epoch) }, familyForks: readContractSizes(config) }
  },
  formatConfig: ({ clique, familyForks }) => ({
    clique: { epoch: BigInt(clique!.epoch) },
    ...formatContractSize(familyForks),
  }),
}

/** Every `epoch`-th block has the list of signers. */
function verifyExtraData(header: Header, { spec, refuse }: HeaderContext): void {
  const { extraData, number } = header
  const signers = extraData.length - VANITY - SEAL
  if (signers < 0) refuse('extra data', `at least ${VANITY + SEAL} bytes`, `${extraData.length} bytes`)
  const hasList = number % spec.clique!.epoch === 0
  if (hasList ? signers % ADDRESS !== 0 || signers === 0 : signers !== 0) {
    refuse('extra data', hasList ? 'a list of signers' : 'no list of signers', `${signers} bytes`)
  }
}

/** Checks that the signer may sign the block, by the votes before it. Where their headers are not available, any
 *  signature will do. */
function verifySigner(header: Header, { parent, spec, earlier, refuse }: HeaderContext): void {
  const signer = readSigner(header, refuse)
  if (header.number % spec.clique!.epoch === 0) verifyCheckpoint(header, refuse)
  const signers = signersAfter(parent, header.parentHash, spec, earlier)
  if (signers === undefined) return
  const { addresses, recent } = signers
  const index = addresses.indexOf(signer)
  if (index < 0) refuse('signer', `one of ${addresses}`, signer)
  const before = recent.find((each) => each.signer === signer && each.number > header.number - signerLimit(signers))
  if (before !== undefined) {
    refuse('signer', `none of the last ${signerLimit(signers) - 1} blocks`, `${signer}, that of block ${before.number}`)
  }
  const expected = header.number % addresses.length === index ? 2n : 1n
  if (header.difficulty !== expected) refuse('difficulty', `${expected} of signer ${signer}`, header.difficulty)
  if (header.number % spec.clique!.epoch !== 0) return
  const listed = listedSigners(header).join()
  if (listed !== addresses.join()) refuse('signers', `${addresses}, those of the votes`, listed)
}

function readSigner(header: Header, refuse: Refuse): string {
  try {
    return formatData(signerOf(header))
  } catch (error) {
    return refuse('seal', 'a signature', (error as Error).message)
  }
}

function verifyCheckpoint({ miner, nonce }: Header, refuse: Refuse): void {
  if (!equalBytes(miner, NO_ADDRESS)) refuse('beneficiary', 'none in a block with a list of signers', miner)
  if (!equalBytes(nonce, NONCES[0])) refuse('nonce', 'zero in a block with a list of signers', nonce)
}

/** Fees go to the signer of a block (EIP-225); COINBASE returns it too. Block 0 has no seal, and a simulated one
 *  neither. */
function signerOrMiner(_spec: ChainSpec, header: Header): Uint8Array {
  if (header.number === 0 || header.difficulty === 0n || header.extraData.length < VANITY + SEAL) return header.miner
  try {
    return signerOf(header)
  } catch {
    return header.miner
  }
}

const NO_ADDRESS = new Uint8Array(20)
const NONCES = [new Uint8Array(8), new Uint8Array(8).fill(255)]
const NO_MIX_HASH = new Uint8Array(32)

function verifyConstants(header: Header, { refuse }: HeaderContext): void {
  const { difficulty, nonce, mixHash, unclesHash } = header
  if (difficulty !== 1n && difficulty !== 2n) refuse('difficulty', '1 or 2', difficulty)
  if (!NONCES.some((each) => equalBytes(nonce, each))) refuse('nonce', 'all zero or all ones', nonce)
  if (!equalBytes(mixHash, NO_MIX_HASH)) refuse('mix hash', NO_MIX_HASH, mixHash)
  if (!equalBytes(unclesHash, EMPTY_UNCLES_HASH)) refuse('uncles hash', EMPTY_UNCLES_HASH, unclesHash)
}
