import { describeOtherFamily, familyOf } from '../../chain/eth/families/families.js'
import type { EarlierHeader, Family, HeaderContext } from '../../chain/eth/families/family.js'
import { TIME_FORKS } from '../../chain/eth/forkSchedule.js'
import { FORK_DEFINITIONS } from '../../chain/eth/forks/all.js'
import type { ChainSpec, Fork, Rules } from '../../chain/eth/forks/rules.js'
import { type Refuse, refuserOf } from '../../chain/eth/invalidBlock.js'
import type { Block, Header } from '../../chain/eth/types.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'

/** The parts of the parent that its child is checked against. */
export interface ParentBlock {
  hash: Uint8Array // 32
  header: Header
}

/** Checks a header against its parent and the rules in force. The proof-of-work seal is not checked: nonce and mix hash
 *  of Ethash are accepted as they are. Rules: Yellow Paper 4.3.4, EIP-779, 1559, 3675, 4399, 4844, 4788, 4895, 7685,
 *  7918. A development chain may keep the timestamp, and sets base fee and gas limit as it likes. `earlier` reads the
 *  headers before the parent, which hold the votes of some families. @throws InvalidBlock */
export function verifyHeader(
  header: Header,
  blockHash: Uint8Array,
  parent: ParentBlock,
  rules: Rules,
  spec: ChainSpec,
  earlier: EarlierHeader = () => undefined,
): void {
  const refuse = naming(header, familyOf(spec), refuserOf(header.number, blockHash))
  if (header.number !== parent.header.number + 1) refuse('number', parent.header.number + 1, header.number)
  if (!equalBytes(header.parentHash, parent.hash)) refuse('parent hash', parent.hash, header.parentHash)
  verifyHeaderFields(header, { parent: parent.header, rules, spec, earlier, refuse })
}

/** Wraps `refuse`: it says so where the header is of another family. */
function naming(header: Header, family: Family, refuse: Refuse): Refuse {
  return (check, expected, actual, detail) => {
    const details = [detail, describeOtherFamily(header, family)].filter((each) => each !== undefined)
    return refuse(check, expected, actual, details.length === 0 ? undefined : details.join('; '))
  }
}

function verifyHeaderFields(header: Header, context: HeaderContext): void {
  const { parent, spec, refuse } = context
  verifyTimestamp(header, parent, spec, refuse)
  const family = familyOf(spec)
  verifyGas(header, family, context)
  verifyForkFields(header, family, context)
  family.verifyHeader(header, context)
}

/** Nodes that mine several blocks a second use the same time for them. */
function verifyTimestamp({ timestamp }: Header, parent: Header, { isDevelopment }: ChainSpec, refuse: Refuse): void {
  if (timestamp > parent.timestamp || (isDevelopment && timestamp === parent.timestamp)) return
  refuse('timestamp', `${isDevelopment ? 'at least' : 'more than'} the parent's ${parent.timestamp}`, timestamp)
}

const MIN_GAS_LIMIT = 5000n
const MAX_GAS_LIMIT = 2n ** 63n - 1n // EIP-106 and geth
const GAS_LIMIT_BOUND = 1024n

function verifyGas(header: Header, family: Family, { parent, rules, spec, refuse }: HeaderContext): void {
  const { gasLimit, gasUsed } = header
  // EIP-1559: the gas limit doubles at the fork, so that the old limit becomes the target.
  const before = rules.eip1559 && parent.baseFeePerGas === undefined ? parent.gasLimit * 2n : parent.gasLimit
  const change = gasLimit > before ? gasLimit - before : before - gasLimit
  if (change >= before / GAS_LIMIT_BOUND && family.boundsGasLimit(spec) && !spec.isDevelopment) {
    refuse('gas limit', `within ${before / GAS_LIMIT_BOUND} of ${before}`, gasLimit)
  }
  if (gasLimit < MIN_GAS_LIMIT || gasLimit > MAX_GAS_LIMIT) {
    refuse('gas limit', `${MIN_GAS_LIMIT} to ${MAX_GAS_LIMIT}`, gasLimit)
  }
  if (gasUsed > gasLimit) refuse('gas used', `at most the gas limit ${gasLimit}`, gasUsed)
}

/** What to do when every block of a network lacks, or has, the fields of a fork. */
const hintAtTime = (fork: Fork) =>
  `if all blocks from here on are so, the time of ${fork} is wrong or missing: --fork ${fork}=TIME sets it`

function verifyForkFields(header: Header, family: Family, { parent, rules, spec, refuse }: HeaderContext): void {
  for (const { name, headerFields = [] } of FORK_DEFINITIONS) {
    const required = rules.has(name)
    const isByTime = TIME_FORKS.includes(name)
    const hint = isByTime ? hintAtTime(name) : undefined
    for (const { name: field, label } of headerFields) {
      if ((header[field] !== undefined) === required) continue
      if (required && isByTime && family.mayLackForkFields) continue
      refuse(label, required ? `a value from ${rules.fork} on` : `none at ${rules.fork}`, header[field], hint)
    }
  }
  if (rules.eip1559 && !spec.isDevelopment) {
    const expected = family.nextBaseFee(parent, header.timestamp, spec)
    if (header.baseFeePerGas !== expected) refuse('base fee', expected, header.baseFeePerGas)
  }
}

/** The chain before a block, for checking its uncles. */
export interface Ancestors {
  header(number: number): ParentBlock | undefined
  uncleHashes(number: number): Uint8Array[]
}

const MAX_UNCLES = 2
const UNCLE_GENERATIONS = 6 // Yellow Paper 4.3.4 (k)

/** Checks the uncles of a block (Yellow Paper 4.3.4, 11.1): at most two, each a sibling of one of the last six
 *  ancestors' children, valid by itself, not an ancestor and not included before. `rulesOf` returns the rules at an
 *  uncle. @returns the hashes of the uncles, 32 bytes each @throws InvalidBlock */
export function verifyUncles(
  block: Block,
  ancestors: Ancestors,
  rulesOf: (header: Header) => Rules,
  spec: ChainSpec,
): Uint8Array[] {
  const { uncles, header } = block
  if (uncles.length === 0) return []
  const refuse = refuserOf(header.number, block.hash)
  if (uncles.length > MAX_UNCLES) refuse('uncles', `at most ${MAX_UNCLES}`, uncles.length)
  const included = new Set<string>([formatData(block.hash)])
  const parents = new Map<string, ParentBlock>()
  // In a chain that is stored from a later block on, the first blocks lack ancestors; an uncle's parent may then be
  // unknown.
  let allAvailable = true
  for (let back = 1; back <= Math.min(UNCLE_GENERATIONS + 1, header.number); back++) {
    const ancestor = ancestors.header(header.number - back)
    if (!ancestor) {
      allAvailable = false
      break
    }
    included.add(formatData(ancestor.hash))
    // An uncle's parent is the parent of one of the last six ancestors.
    if (back >= 2) parents.set(formatData(ancestor.hash), ancestor)
    if (back <= UNCLE_GENERATIONS) {
      for (const hash of ancestors.uncleHashes(header.number - back)) included.add(formatData(hash))
    }
  }
  const hashes = uncles.map(familyOf(spec).hashHeader)
  for (const [index, uncle] of uncles.entries()) {
    const hash = formatData(hashes[index])
    if (included.has(hash)) refuse(`uncle ${index}`, 'neither an ancestor nor included before', hash)
    included.add(hash)
    const parent = parents.get(formatData(uncle.parentHash))
    if (parent) verifyUncle(uncle, index, parent.header, rulesOf(uncle), spec, refuse)
    else if (allAvailable) refuse(`uncle ${index}: parent hash`, 'an ancestor of generation 2 to 7', uncle.parentHash)
  }
  return hashes
}

function verifyUncle(
  uncle: Header,
  index: number,
  parent: Header,
  rules: Rules,
  spec: ChainSpec,
  refuse: Refuse,
): void {
  const refuseUncle: Refuse = (check, expected, actual) => refuse(`uncle ${index}: ${check}`, expected, actual)
  if (uncle.number !== parent.number + 1) refuseUncle('number', parent.number + 1, uncle.number)
  verifyHeaderFields(uncle, { parent, rules, spec, earlier: () => undefined, refuse: refuseUncle })
}
