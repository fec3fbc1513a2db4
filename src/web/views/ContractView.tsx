import { useMemo, useState } from 'preact/hooks'
import type { Abi, AbiFunction } from 'viem'
import { type AbiOfContract, type ContractAbi, refreshLabels } from '../client/abis.js'
import { keepOwnAbi, readOwnAbi } from '../client/ownAbis.js'
import { CallFailed, call, callIfServed, callInBatch } from '../client/rpc.js'
import { apiKey, endpoint } from '../client/session.js'
import { useStore } from '../client/store.js'
import type { Decoded, Hex, Status } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { type Wallet, wallets } from '../client/wallet.js'
import { decodeResult, encodeCall, kindOf, parseAbiText, parseBlock, signatureOf } from '../contractCalls.js'
import { formatPlural } from '../format.js'
import { Section } from '../ui/Layout.js'
import { Name } from '../ui/Name.js'
import { Empty, Loaded } from '../ui/States.js'
import { AddressLink, CopyButton } from '../ui/Value.js'
import { type CallSettings, ContractFunction, ResultValues } from './ContractFunction.js'
import { SourceFiles, StorageVariables } from './ContractStorage.js'

/** An ABI of the contract, from the server or from this browser. */
interface UsedAbi {
  readonly title: string
  readonly note: string
  /** The contract that it is bound to, if that is the implementation of a proxy. */
  readonly implementation: Hex | undefined
  readonly isBuiltIn: boolean
  readonly items: Abi
  /** Number of source files that the server has. */
  readonly sourceFiles?: number
}

/** The interface of a contract: its ABIs, its functions, and forms that call them. */
export function ContractView({ address }: { address: string }) {
  const request = useRequest(() => loadAbis(address), [address])
  const [own, setOwn] = useState(() => readOwnAbi(address))
  const [block, setBlock] = useState('latest')
  return (
    <Loaded request={request} what="the ABI">
      {(found) => {
        const used = [...ownAbi(own), ...found.abis.map((abi) => describeAbi(abi, address))]
        return (
          <>
            {found.implementations.length > 0 && (
              <p>
                A proxy: its calls are run by{' '}
                {found.implementations.map((each) => (
                  <AddressLink key={each} address={each} whole />
                ))}
                .
              </p>
            )}
            {used.length === 0 ? (
              <Empty title="No ABI of this contract is known">
                Add one below, or on the server: <code>cairn abi add {address}=ABI.json</code>.
              </Empty>
            ) : (
              <Functions address={address} used={used} block={block} onBlock={setBlock} />
            )}
            {found.abis.some(({ hasStorageLayout }) => hasStorageLayout) && (
              <StorageVariables address={address} block={block} />
            )}
            <AbiForm address={address} own={own} onChange={setOwn} onAdded={request.reload} />
          </>
        )
      }}
    </Loaded>
  )
}

/** Returns no ABI where the server has no such method, or no state of the newest block. */
async function loadAbis(address: string): Promise<AbiOfContract> {
  try {
    return (await callIfServed<AbiOfContract>('cairn_getAbi', [address])) ?? { implementations: [], abis: [] }
  } catch (error) {
    if (error instanceof CallFailed && error.kind === 'call') return { implementations: [], abis: [] }
    throw error
  }
}

function ownAbi(items: Abi | undefined): UsedAbi[] {
  return items === undefined
    ? []
    : [{ title: 'Your ABI', note: 'kept in this browser', implementation: undefined, isBuiltIn: false, items }]
}

function describeAbi(abi: ContractAbi, address: string): UsedAbi {
  const { name, isBuiltIn, compiler, sourcifyMatch, metadataMatches, items, sourceFiles } = abi
  const isBound = abi.address !== null
  const notes = [
    isBuiltIn ? 'built in, as far as the code names it' : isBound ? '' : 'of any contract, as far as the code names it',
    sourcifyMatch !== null && `Sourcify, ${sourcifyMatch} match`,
    metadataMatches === true && 'metadata matches the code',
    compiler !== null && `solc ${compiler}`,
  ]
  return {
    title: name,
    note: notes.filter(Boolean).join(', '),
    implementation: abi.address !== null && abi.address !== address.toLowerCase() ? abi.address : undefined,
    isBuiltIn,
    items,
    sourceFiles,
  }
}

interface FunctionsProps {
  address: string
  used: readonly UsedAbi[]
  block: string
  onBlock: (block: string) => void
}

function Functions({ address, used, block, onBlock }: FunctionsProps) {
  const writing = useWriting()
  const errors = useMemo(() => used.flatMap(({ items }) => items.filter(({ type }) => type === 'error')) as Abi, [used])
  const settings: CallSettings = { address, block, errors, writing: writing.use }
  // A built-in interface without functions has only events, which other contracts emit too.
  const groups = withoutRepeats(used).filter(({ abi, functions }) => functions.length > 0 || !abi.isBuiltIn)
  return (
    <>
      <div class="inline-form">
        <label>
          Read at block
          <input value={block} onInput={(event) => onBlock(event.currentTarget.value)} spellcheck={false} />
        </label>
        {writing.choice}
      </div>
      {groups.map(({ abi, functions }, i) => (
        <AbiFunctions key={i} abi={abi} functions={functions} settings={settings} />
      ))}
    </>
  )
}

/** Functions by ABI; one that several have belongs to the first. */
function withoutRepeats(used: readonly UsedAbi[]): { abi: UsedAbi; functions: AbiFunction[] }[] {
  const seen = new Set<string>()
  return used.map((abi) => {
    const functions = abi.items.filter((item): item is AbiFunction => {
      if (item.type !== 'function' || seen.has(signatureOf(item))) return false
      seen.add(signatureOf(item))
      return true
    })
    return { abi, functions }
  })
}

/** How functions are written: the chosen wallet, and the form to choose one. */
function useWriting() {
  const status = useRequest(() => call<Status>('cairn_getStatus'), [])
  const found = useStore(wallets)
  const key = useStore(apiKey)
  const [id, setId] = useState('')
  const wallet: Wallet | undefined = found.find((each) => each.id === id) ?? found[0]
  const { forwardsTransactions = false, chainId = null } = status.data ?? {}
  if (!forwardsTransactions || chainId === null) return { use: undefined, choice: undefined }
  if (wallet === undefined) {
    return { use: undefined, choice: <p class="quiet">A wallet in the browser could write to the contract.</p> }
  }
  const rpcUrl = `${endpoint('v3')}${key === '' ? '' : `/${key}`}`
  const chain = { chainId, rpcUrl, explorerUrl: endpoint('.') }
  return {
    use: { wallet, chain },
    choice: (
      <label>
        Write by
        <select value={wallet.id} onChange={(event) => setId(event.currentTarget.value)}>
          {found.map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </select>
      </label>
    ),
  }
}

interface AbiFunctionsProps {
  abi: UsedAbi
  functions: readonly AbiFunction[]
  settings: CallSettings
}

function AbiFunctions({ abi, functions, settings }: AbiFunctionsProps) {
  const { title, note, implementation, items, sourceFiles = 0 } = abi
  const reads = functions.filter((item) => kindOf(item) === 'read')
  const writes = functions.filter((item) => kindOf(item) === 'write')
  const unknown = functions.filter((item) => kindOf(item) === 'unknown')
  return (
    <section class="section">
      <div class="section-title">
        <h2>
          <Name text={title} />
        </h2>
        {note !== '' && <span class="quiet">{note}</span>}
        {implementation !== undefined && (
          <span class="quiet">
            of the implementation <AddressLink address={implementation} copies={false} />
          </span>
        )}
      </div>
      <ConstantValues functions={reads.filter(({ inputs }) => inputs.length === 0)} settings={settings} />
      <FunctionList name="Read" functions={reads.filter(({ inputs }) => inputs.length > 0)} settings={settings} />
      <FunctionList name="Write" functions={writes} settings={settings} />
      <FunctionList name="Others" functions={unknown} settings={settings} />
      {sourceFiles > 0 && <SourceFiles name={title} address={implementation ?? settings.address} count={sourceFiles} />}
      <details>
        <summary>ABI as JSON, {formatPlural(items.length, 'item')}</summary>
        <div class="raw">
          <CopyButton text={JSON.stringify(items, null, 1)} what="ABI" />
          <pre>{JSON.stringify(items, null, 1)}</pre>
        </div>
      </details>
    </section>
  )
}

function FunctionList(props: { name: string; functions: readonly AbiFunction[]; settings: CallSettings }) {
  const { name, functions, settings } = props
  if (functions.length === 0) return null
  return (
    <>
      <h3>{name}</h3>
      <div class="functions">
        {functions.map((item) => (
          <ContractFunction key={signatureOf(item)} item={item} settings={settings} />
        ))}
      </div>
    </>
  )
}

/** Functions without inputs that are read at once; more have forms. */
const MAX_CONSTANTS = 30

interface Constant {
  readonly item: AbiFunction
  /** Undefined if the call failed. */
  readonly data: Hex | undefined
  readonly values: Decoded['args'] | undefined
}

/** The values of the functions that are read without inputs. */
function ConstantValues({ functions, settings }: { functions: readonly AbiFunction[]; settings: CallSettings }) {
  const { address, block } = settings
  const shown = functions.slice(0, MAX_CONSTANTS)
  const names = shown.map((item) => signatureOf(item))
  const request = useRequest(() => readConstants(address, block, shown), [address, block, names])
  if (shown.length === 0) return null
  return (
    <>
      <Loaded request={request} what="the values">
        {(constants) => (
          <dl class="facts">
            {constants.map(({ item, data, values }) => (
              <div key={signatureOf(item)}>
                <dt>
                  <code>{item.name}</code> <span class="quiet">{typeOf(item)}</span>
                </dt>
                <dd>
                  {data === undefined ? (
                    <span class="quiet">not available</span>
                  ) : (
                    <ResultValues values={values} data={data} />
                  )}
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Loaded>
      <FunctionList name="Read" functions={functions.slice(MAX_CONSTANTS)} settings={settings} />
    </>
  )
}

/** Type of the only output; empty if there are several, which are listed with their types. */
function typeOf({ outputs = [] }: AbiFunction): string {
  return outputs.length === 1 && !outputs[0].name ? outputs[0].type : ''
}

function readConstants(address: string, block: string, functions: readonly AbiFunction[]): Promise<Constant[]> {
  return Promise.all(
    functions.map(async (item) => {
      const data = await callInBatch<Hex>('eth_call', [
        { to: address, data: encodeCall(item, []) },
        parseBlock(block),
      ]).catch((error: unknown) => {
        if (error instanceof CallFailed && error.kind !== 'call') throw error
        return undefined
      })
      return { item, data, values: data === undefined ? undefined : decodeResult(item, data) }
    }),
  )
}

interface AbiFormProps {
  address: string
  own: Abi | undefined
  onChange: (abi: Abi | undefined) => void
  /** The server has another ABI now. */
  onAdded: () => void
}

/** Adds an ABI of the contract, in this browser or for all users of the server. */
function AbiForm({ address, own, onChange, onAdded }: AbiFormProps) {
  const [name, setName] = useState('')
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const use = (abi: Abi | undefined) => {
    setProblem(keepOwnAbi(address, abi) ? undefined : 'the browser keeps nothing: the ABI is used until you leave')
    onChange(abi)
    setText('')
  }
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const isForAll = (event.submitter as HTMLButtonElement | null)?.value === 'all'
    try {
      const items = parseAbiText(text) as unknown as Abi
      if (!isForAll) return use(items)
      await call('cairn_addAbi', [name, items, address])
      setProblem(undefined)
      setText('')
      await refreshLabels()
      onAdded()
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <Section title="Add an ABI" note="for this contract">
      <form class="card" onSubmit={(event) => void submit(event)}>
        <label for="own-abi">JSON ABI, or an artefact of Hardhat or Foundry</label>
        <textarea
          id="own-abi"
          rows={4}
          value={text}
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <label for="own-abi-name">
          Name of the contract <span class="quiet">for all users only</span>
        </label>
        <input
          id="own-abi-name"
          value={name}
          maxLength={100}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => setName(event.currentTarget.value)}
        />
        {problem !== undefined && (
          <p class="bad-text" role="alert">
            {problem}
          </p>
        )}
        <div class="buttons">
          <button type="submit" class="primary" disabled={text.trim() === ''}>
            Use it in this browser
          </button>
          <button type="submit" value="all" disabled={text.trim() === '' || name.trim() === ''}>
            Add it for all users
          </button>
          {own !== undefined && (
            <button type="button" onClick={() => use(undefined)}>
              Remove your ABI
            </button>
          )}
        </div>
        <p class="quiet">
          In this browser it names functions on this tab. For all users it decodes logs, calls and errors, too; that
          needs an API key with the right <code>abi</code>.
        </p>
      </form>
    </Section>
  )
}
