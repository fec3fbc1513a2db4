import { useEffect, useState } from 'preact/hooks'
import { hexToBigInt } from 'viem'
import { loadSources, readVariable, readVariables } from '../client/contractStorage.js'
import type { FoundVariable } from '../client/storageTypes.js'
import { useRequest } from '../client/useRequest.js'
import { parseBlock } from '../contractCalls.js'
import { formatCount, formatPlural } from '../format.js'
import { type StorageRow, showInvisible, storageRows } from '../storageRows.js'
import { Argument } from '../ui/Decoded.js'
import { Section, Table } from '../ui/Layout.js'
import { Loaded } from '../ui/States.js'
import { AddressLink, CopyButton } from '../ui/Value.js'

/** The variables of a contract after a block, by its storage layout. */
export function StorageVariables({ address, block }: { address: string; block: string }) {
  const request = useRequest(() => readVariables(address, parseBlock(block)), [address, block])
  const { looked, find } = useLooked(address, block)
  return (
    <Section title="Variables" note={`in storage, at block ${block.trim() || 'latest'}`}>
      <Loaded request={request} what="the variables">
        {(variables) => (
          <Table
            caption="Variables"
            columns={[{ name: 'Slot', isWide: true }, 'Variable', 'Value']}
            rows={storageRows(variables, looked).map((row) => [
              <SlotPlace key="slot" row={row} />,
              <span key="name" class="variable">
                <bdi>{showInvisible(row.label)}</bdi> <span class="quiet">{showInvisible(row.variable.type)}</span>
              </span>,
              <RowValue key="value" row={row} find={find} />,
            ])}
          />
        )}
      </Loaded>
    </Section>
  )
}

/** The variables that were looked up by their paths, read again at another block, and a function that looks up one. */
function useLooked(address: string, block: string) {
  const [looked, setLooked] = useState<readonly FoundVariable[]>([])
  const read = (path: readonly string[]) => readVariable(address, parseBlock(block), path)
  useEffect(() => {
    let isCurrent = true
    Promise.all(looked.map(({ path }) => read(path))).then(
      (found) => isCurrent && setLooked(found),
      () => isCurrent && setLooked([]),
    )
    return () => {
      isCurrent = false
    }
  }, [address, block])
  const find = async (path: readonly string[]) => {
    const found = await read(path)
    setLooked((old) => [...old.filter((each) => each.path.join('\0') !== path.join('\0')), found])
  }
  return { looked, find }
}

function SlotPlace({ row: { variable } }: { row: StorageRow }) {
  const slot = hexToBigInt(variable.slot)
  const place = slot < 1_000_000n ? formatCount(slot) : `${variable.slot.slice(0, 8)}…`
  return (
    <span class="quiet number" title={`slot ${variable.slot}, offset ${variable.offset}`}>
      {place}
      {variable.offset > 0 && ` + ${variable.offset}`}
    </span>
  )
}

function RowValue({ row, find }: { row: StorageRow; find(path: readonly string[]): Promise<void> }) {
  const { type, value, parts, length, keyType, isCut } = row.variable
  const finds = keyType !== undefined || (isCut && parts !== undefined && length !== undefined)
  if (finds) {
    const note = keyType === undefined ? formatPlural(hexToBigInt(length!), 'element') : undefined
    return <KeyForm row={row} keyType={keyType ?? 'index'} note={note} find={find} />
  }
  if (parts !== undefined) {
    const note =
      length === undefined ? formatPlural(parts.length, 'member') : formatPlural(hexToBigInt(length), 'element')
    return (
      <span class="quiet">
        {note}
        {isCut && ', not all of them'}
      </span>
    )
  }
  if (typeof value === 'string' && /^(address|contract)\b/.test(type) && value.length === 42) {
    return <AddressLink address={value.toLowerCase()} isBrief />
  }
  const text = typeof value === 'string' ? showInvisible(value) : String(value)
  return (
    <>
      <Argument type={type} value={text} />
      {isCut && <span class="quiet"> … {formatPlural(hexToBigInt(length ?? '0x0'), 'byte')}</span>}
    </>
  )
}

interface KeyFormProps {
  row: StorageRow
  keyType: string
  note: string | undefined
  find(path: readonly string[]): Promise<void>
}

/** Looks up a value of a mapping by its key, or an element by its index. */
function KeyForm({ row: { label, path }, keyType, note, find }: KeyFormProps) {
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState('')
  const submit = async (event: Event) => {
    event.preventDefault()
    try {
      await find([...path, key])
      setProblem('')
      setKey('')
    } catch (error) {
      setProblem((error as Error).message.replace(/^invalid argument \d: /, ''))
    }
  }
  return (
    <form class="inline-form key" onSubmit={(event) => void submit(event)}>
      {note !== undefined && <span class="quiet">{note}</span>}
      <input
        value={key}
        aria-label={`Key of ${label}`}
        placeholder={keyType}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setKey(event.currentTarget.value)}
      />
      <button type="submit">Read</button>
      {problem !== '' && (
        <span class="bad-text break" role="alert">
          {problem}
        </span>
      )}
    </form>
  )
}

interface SourceFilesProps {
  /** Name and contract of the ABI that they are of. */
  name: string
  address: string
  count: number
}

/** The source files of an ABI; loaded when they are unfolded. */
export function SourceFiles({ name, address, count }: SourceFilesProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Source, {formatPlural(count, 'file')}</summary>
      {isOpen && <Files name={name} address={address} />}
    </details>
  )
}

function Files({ name, address }: Pick<SourceFilesProps, 'name' | 'address'>) {
  const request = useRequest(() => loadSources(address), [address])
  return (
    <Loaded request={request} what="the sources">
      {(bundles) => (
        <>
          {bundles
            .filter((bundle) => bundle.name === name && bundle.address === address.toLowerCase())
            .flatMap(({ files }) => files)
            .map(({ path, content }, i) => (
              <details key={i} class="source">
                <summary>
                  <bdi class="break">{showInvisible(path)}</bdi>
                </summary>
                <div class="raw">
                  <CopyButton text={content} what="source" />
                  <pre>{showInvisible(content)}</pre>
                </div>
              </details>
            ))}
        </>
      )}
    </Loaded>
  )
}
