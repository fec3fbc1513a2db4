// `npm run compile:solidity`: compiles test/support/solidity/*.sol to the contracts.json beside them, which tests
// deploy. Solc is installed from npm here and is no dependency.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Abi } from 'viem'
import { packagePath } from '../src/store/open.js'
import {
  CONTRACTS_FILE,
  type Contracts,
  hashSources,
  pickContracts,
  readSources,
} from '../test/support/chains/solidityContracts.js'
import { installPackage } from '../test/support/npmPackage.js'

const VERSION = '0.8.37'
/** The oldest fork that has what the sources use: transient storage, and MCOPY, which solc emits for copies. */
const EVM_VERSION = 'cancun'
/** A warning for each use of SELFDESTRUCT, which the sources are to use. */
const DEPRECATED_SELFDESTRUCT = '5159'

interface Solc {
  version(): string
  compile(input: string): string
}

interface Compiled {
  abi: Abi
  evm: { bytecode: { object: string } }
  metadata?: string
  storageLayout?: object
}

interface Output {
  errors?: { severity: string; errorCode: string; formattedMessage: string }[]
  contracts: { [file: string]: { [name: string]: Compiled } }
}

const folder = installPackage('solc', VERSION)
if (folder === undefined) throw new Error(`solc ${VERSION} cannot be installed from npm`)
const solc = createRequire(import.meta.url)(join(folder, 'index.js')) as Solc

const settings = {
  evmVersion: EVM_VERSION,
  optimizer: { enabled: true, runs: 200 },
  outputSelection: {
    '*': { '*': ['abi', 'evm.bytecode.object'] },
    'Cabinet.sol': { Cabinet: ['abi', 'evm.bytecode.object', 'metadata', 'storageLayout'] },
  },
}
const input = { language: 'Solidity', sources: readSources(), settings }
const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output
const errors = (output.errors ?? []).filter(({ errorCode }) => errorCode !== DEPRECATED_SELFDESTRUCT)
for (const { formattedMessage } of errors) console.error(formattedMessage)
if (errors.length > 0) process.exit(1)

const compiled = Object.values(output.contracts).flatMap((file) =>
  Object.entries(file).map(([name, { abi, evm, metadata, storageLayout }]) => [
    name,
    { abi, bytecode: `0x${evm.bytecode.object}` as const, metadata, storageLayout },
  ]),
)
const contracts: Contracts = {
  compiler: solc.version(),
  evmVersion: EVM_VERSION,
  sourcesSha256: hashSources(),
  contracts: pickContracts(Object.fromEntries(compiled)),
}
writeFileSync(CONTRACTS_FILE, JSON.stringify(contracts, null, 2))
spawnSync(packagePath('node_modules/.bin/biome'), ['format', '--write', CONTRACTS_FILE], { stdio: 'inherit' })
