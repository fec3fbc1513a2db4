import { COMMAND_DOCS } from './commandDocs.js'
import { optionsOf } from './config.js'
import { COMMANDS, type Command, type Option } from './options/option.js'

/** The shells that completion is made for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** What completes a word: one of some words, a path, or nothing that is known. */
type OptionValues = readonly string[] | 'file' | 'directory' | undefined

/** Returns what completes the operands of a command, from its usage: words such as actions, or paths. */
export function operandsOf(command: Command): readonly string[] | 'file' {
  if (command === 'help') return COMMANDS
  const { usage } = COMMAND_DOCS[command]
  const words = usage.flatMap((line) => /^cairn \S+ ([a-z|]+)(?= |$)/.exec(line)?.[1].split('|') ?? [])
  if (words.length > 0) return [...new Set(words)]
  // Without the values of options, such as `--at FILE`.
  return usage.some((line) => /\b(?:PATH|FILE|FILTER)\b/.test(line.replace(/--\S+ \S+/g, ''))) ? 'file' : []
}

/** Returns the values of an option, from its placeholder: paths where it may be one, else the words in lower case,
 *  which stand for themselves. */
export function optionValues({ placeholder = '' }: Pick<Option<unknown>, 'placeholder'>): OptionValues {
  const parts = placeholder.split('|')
  if (parts.includes('FILE')) return 'file'
  if (parts.includes('DIR')) return 'directory'
  const words = parts.filter((part) => /^[a-z][a-z0-9-]*$/.test(part))
  return words.length > 0 ? words : undefined
}

/** Formats the completion script of a shell. */
export function formatCompletion(shell: Shell): string {
  if (shell === 'bash') return formatBash()
  return shell === 'zsh' ? formatZsh() : formatFish()
}

function formatBash(): string {
  const cases = COMMANDS.map((command) => {
    const options = optionsOf(command)
    const flags = [...options.map(({ flag }) => `--${flag}`), '--help'].join(' ')
    const values = options.filter(({ placeholder }) => placeholder !== undefined).map(bashValues)
    const operands = operandsOf(command)
    return [
      `    ${command})`,
      `      flags='${flags}'`,
      `      operands='${operands === 'file' ? ':file' : operands.join(' ')}'`,
      '      case $previous in',
      ...values,
      '      esac ;;',
    ].join('\n')
  })
  return `# bash completion of cairn: source <(cairn completion bash)
_cairn() {
  local word previous command flags operands
  COMPREPLY=()
  # '=' is a word of its own: --format=csv is three words.
  word=\${COMP_WORDS[COMP_CWORD]}
  previous=\${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $word == '=' ]]; then word=; elif [[ $previous == '=' ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${COMMANDS.join(' ')} --help --version' -- "$word"))
    return
  fi
  command=\${COMP_WORDS[1]}
  case $command in
${cases.join('\n')}
    *) return ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [[ $operands == :file ]] || { ((COMP_CWORD > 2)) && [[ " $operands " == *" \${COMP_WORDS[2]} "* ]]; }; then
    # Paths may have spaces.
    local IFS=$'\\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$word"))
  else
    COMPREPLY=($(compgen -W "$operands" -- "$word"))
  fi
}
complete -F _cairn cairn`
}

function bashValues(option: Option<unknown>): string {
  const values = optionValues(option)
  const paths = `local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -${values === 'directory' ? 'd' : 'f'} -- "$word"))`
  const reply = Array.isArray(values) ? `COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$word"))` : paths
  return `        --${option.flag}) ${values === undefined ? '' : `${reply}; `}return ;;`
}

function formatZsh(): string {
  const commands = COMMANDS.map((command) => `    ${quote(`${command}:${COMMAND_DOCS[command].summary}`)}`)
  const cases = COMMANDS.map((command) => {
    const operands = operandsOf(command)
    const words =
      operands === 'file' || operands.length === 0
        ? ''
        : `${quote(`1:operand:(${operands.join(' ')})`)} ${quote('*:file:_files')}`
    const rest = operands === 'file' ? quote('*:file:_files') : words
    const specs = [...optionsOf(command).map(zshOption), quote('--help[Show help]'), ...(rest === '' ? [] : [rest])]
    return [`    ${command})`, `      _arguments \\\n        ${specs.join(' \\\n        ')} ;;`].join('\n')
  })
  return `#compdef cairn
# zsh completion of cairn: a file _cairn in $fpath, or source <(cairn completion zsh) after compinit
_cairn() {
  local -a commands
  commands=(
${commands.join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _cairn ]]; then _cairn "$@"; else compdef _cairn cairn; fi`
}

function zshOption(option: Option<unknown>): string {
  const { flag, placeholder, repeatable = false } = option
  const text = firstSentence(option.doc).replace(/[[\]:\\]/g, '\\$&')
  const name = `${repeatable ? '*' : ''}--${flag}`
  if (placeholder === undefined) return quote(`${name}[${text}]`)
  const values = optionValues(option)
  const action = Array.isArray(values)
    ? `(${values.join(' ')})`
    : values === undefined
      ? ' '
      : values === 'directory'
        ? '_files -/'
        : '_files'
  return quote(`${name}=[${text}]:value:${action}`)
}

function formatFish(): string {
  const lines = COMMANDS.flatMap((command) => {
    const condition = `-n '__fish_seen_subcommand_from ${command}'`
    const options = optionsOf(command).map((option) => fishOption(option, condition))
    const operands = operandsOf(command)
    const words = operands === 'file' ? '-F' : `-a ${quote(operands.join(' '))}`
    const rest = operands.length === 0 ? [] : [`complete -c cairn ${condition} ${words}`]
    return [
      `complete -c cairn -n __fish_use_subcommand -a ${command} -d ${quote(COMMAND_DOCS[command].summary)}`,
      ...options,
      ...rest,
    ]
  })
  return ['# fish completion of cairn: cairn completion fish | source', 'complete -c cairn -f', ...lines].join('\n')
}

function fishOption(option: Option<unknown>, condition: string): string {
  const values = optionValues(option)
  const kind = Array.isArray(values)
    ? ` -x -a ${quote(values.join(' '))}`
    : values === undefined
      ? ' -x'
      : values === 'directory'
        ? " -x -a '(__fish_complete_directories)'"
        : ' -r -F'
  const parameter = option.placeholder === undefined ? '' : kind
  return `complete -c cairn ${condition} -l ${option.flag}${parameter} -d ${quote(firstSentence(option.doc))}`
}

/** Returns the text up to its first period, colon or semicolon that ends a word. */
function firstSentence(text: string): string {
  return text.split(/[.:;](?= |$)/)[0].replaceAll('`', '')
}

/** Quotes a text for bash and zsh, and for fish if it has no backslash before a quote. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
