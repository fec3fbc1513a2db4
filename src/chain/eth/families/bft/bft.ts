import { equalBytes } from '../../../../lib/bytes.js'
import { formatData, parseHex } from '../../../../lib/hex.js'
import { EMPTY_UNCLES_HASH } from '../../emptyHashes.js'
import type { FamilyFork } from '../../forks/rules.js'
import type { Refuse } from '../../invalidBlock.js'
import { DecodeError } from '../../rlp.js'
import type { Header } from '../../types.js'
import { ethereum, verifyBlobGas } from '../ethereum.js'
import type { Family, HeaderContext } from '../family.js'
import { formatBftRules, readBftRules } from './bftConfig.js'
import { createBftExecution } from './bftExecution.js'
import { formatContractSize, readContractSizes } from './contractSize.js'
import {
  type BftExtraData,
  type BftForm,
  bftFormOf,
  hashBftHeader,
  IBFT2_FORM,
  QBFT_FORM,
  readBftExtraData,
  recoverSealers,
} from './extraData.js'
import { validatorPeriodAfter } from './periods.js'
import { verifySealers } from './sealers.js'
import { validatorsAfter } from './validators.js'

/** `mixHash` of every block: the text "ctical byzantine fault tolerance". */
const MIX_HASH = parseHex('0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365')
const NO_NONCE = new Uint8Array(8)

/** No system calls before transactions, and no requests (Besu since 26.1: MainnetProtocolSpecs, `isPoAConsensus`). */
const WITHOUT_BEACON_CHAIN: FamilyFork = {
  name: 'withoutBeaconChain',
  block: 0,
  lists: { systemCalls: [], requestContracts: [], systemContracts: [] },
}

/** Besu networks whose blocks are sealed by QBFT. */
export const qbft: Family = createBftFamily('qbft', 'QBFT', QBFT_FORM)

/** Besu networks whose blocks are sealed by IBFT 2.0. */
export const ibft2: Family = createBftFamily('ibft2', 'IBFT 2.0', IBFT2_FORM)

function createBftFamily(name: 'qbft' | 'ibft2', title: string, form: BftForm): Family {
  return {
    ...ethereum,
    name,
    title,
    chosenBy: `--genesis with config.${name}`,
    engineApi: 'none',
    boundsGasLimit: ({ bft }) => !bft!.isGoQuorum,
    mayLackForkFields: true,
    sealsAreFinal: ({ extraData }, isExecuted) => isExecuted || readBftExtraData(extraData).validators.length > 0,
    execution: createBftExecution(form),
    recognises: (header) => equalBytes(header.mixHash, MIX_HASH) && bftFormOf(header.extraData) === form,
    hashesWholeHeader: false,
    hashHeader: (header) => hashBftHeader(header, form),
    nextBaseFee: (parent, timestamp, spec) =>
      spec.bft!.zeroBaseFee ? 0n : ethereum.nextBaseFee(parent, timestamp, spec),
    verifyHeader: (header, context) => {
      verifyConstants(header, context.refuse)
      verifySeals(header, form, context)
      verifyBlobGas(header, context)
    },
    readConfig: (config) => {
      if (config[name] === undefined || config[name] === null) return undefined
      const bft = readBftRules(config, name)
      const familyForks = [WITHOUT_BEACON_CHAIN, ...readContractSizes(config)]
      const fees = bft.zeroBaseFee ? { minBlobBaseFee: 0n } : {}
      return { family: name, ethash: false, bft, familyForks, depositContract: undefined, ...fees }
    },
    formatConfig: ({ bft, familyForks }) => ({ ...formatBftRules(name, bft!), ...formatContractSize(familyForks) }),
  }
}

function verifyConstants(header: Header, refuse: Refuse): void {
  if (header.difficulty !== 1n) refuse('difficulty', 1n, header.difficulty)
  if (!equalBytes(header.nonce, NO_NONCE)) refuse('nonce', NO_NONCE, header.nonce)
  if (!equalBytes(header.mixHash, MIX_HASH)) refuse('mix hash', MIX_HASH, header.mixHash)
  if (!equalBytes(header.unclesHash, EMPTY_UNCLES_HASH)) refuse('uncles hash', EMPTY_UNCLES_HASH, header.unclesHash)
}

/** Checks that two thirds of the validators sealed the block, and that they are those of the votes before it. Where the
 *  headers with the votes are not available: those of the parent but for the one that its proposer voted on. With a
 *  validator contract a header does not name them: seals are required to be of different keys, and where the block is
 *  executed, they are compared with the output of the contract (`createBftExecution`). */
function verifySeals(header: Header, form: BftForm, context: HeaderContext): void {
  const { parent, spec, refuse } = context
  const extraData = readOrRefuse(header, refuse)
  const sealers = recoverOrRefuse(header, extraData, form, refuse)
  const distinct = new Set(sealers.map(formatData))
  if (distinct.size < sealers.length) refuse('seals', 'each of another validator', `${sealers.length}`)
  if (validatorPeriodAfter(spec, parent).validatorContract) {
    const named = extraData.validators.length + (extraData.candidate === undefined ? 0 : 1)
    if (named > 0) refuse('validators', 'no validators and no vote, since a contract names them', `${named}`)
    if (sealers.length === 0) refuse('seals', 'at least 1', 0)
    return
  }
  verifyValidators(extraData, header, context)
  verifySealers(sealers, header, extraData.validators.map(formatData), refuse)
}

function verifyValidators(own: BftExtraData, header: Header, { parent, spec, earlier, refuse }: HeaderContext): void {
  const before = readOrRefuse(parent, refuse)
  const [now, then] = [own, before].map(({ validators }) => validators.map(formatData))
  const expected = validatorsAfter(parent, header.parentHash, spec, earlier)?.addresses
  if (expected !== undefined) {
    if (now.join() !== expected.join()) refuse('validators', `${expected}, those of the votes`, now.join())
    return
  }
  if (before.validators.length === 0) return
  const changed = [...now.filter((each) => !then.includes(each)), ...then.filter((each) => !now.includes(each))]
  const candidate = before.candidate === undefined ? undefined : formatData(before.candidate)
  if (changed.every((each) => each === candidate)) return
  refuse(
    'validators',
    `those of the parent${candidate === undefined ? '' : ` with or without ${candidate}`}`,
    now.join(),
  )
}

function readOrRefuse({ extraData }: Header, refuse: Refuse): BftExtraData {
  try {
    return readBftExtraData(extraData)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return refuse('extra data', 'vanity, validators, vote, round and seals', error.message)
  }
}

function recoverOrRefuse(header: Header, extraData: BftExtraData, form: BftForm, refuse: Refuse): Uint8Array[] {
  try {
    return recoverSealers(header, extraData, form)
  } catch (error) {
    return refuse('seals', 'signatures', (error as Error).message)
  }
}
