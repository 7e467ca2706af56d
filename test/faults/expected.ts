import type { FaultName } from '../simulator/faults.ts';
import { OPERATIONS, type Operation } from './cell.ts';

/**
 * The outcome of each fault, and how many writes reach the device: `failed 0` is a failure with nothing
 * sent. For a list it is the code of its error; `no answer` is `unreachable` or `protocol`, whichever limit
 * comes first. In `read back` an add is executed, and the fault strikes the read-back. `-`: the fault
 * cannot strike there.
 */
const TABLE = `
fault                      list          add          set          delete       read back

# The connection: nothing is sent
refuse                     unreachable   failed 0     failed 0     failed 0     -
accept-and-close           unreachable   failed 0     failed 0     failed 0     -
handshake-stall            unreachable   failed 0     failed 0     failed 0     -
handshake-failure          unreachable   failed 0     failed 0     failed 0     -
tls-garbage                unreachable   failed 0     failed 0     failed 0     -
plain-http                 unreachable   failed 0     failed 0     failed 0     -
old-tls                    unreachable   failed 0     failed 0     failed 0     -
client-certificate         unreachable   failed 0     failed 0     failed 0     -
reset-after-handshake      unreachable   failed 0     failed 0     failed 0     -
certificate-change         untrusted     failed 0     failed 0     failed 0     -
certificate-expired        untrusted     failed 0     failed 0     failed 0     -
certificate-too-early      untrusted     failed 0     failed 0     failed 0     -
certificate-of-another     untrusted     failed 0     failed 0     failed 0     -

# The connection: a write makes room for its own
one-connection             listed        done 1       done 1       done 1       -

# Refusals: nothing is carried out
401                        unauthorized  failed 1     failed 1     failed 1     unknown 1
401-digest                 unauthorized  failed 1     failed 1     failed 1     unknown 1
403                        forbidden     failed 1     failed 1     failed 1     unknown 1
404                        rejected      failed 1     failed 1     failed 1     unknown 1
405                        rejected      failed 1     failed 1     failed 1     unknown 1
407                        rejected      failed 1     failed 1     failed 1     unknown 1
409                        rejected      failed 1     failed 1     failed 1     unknown 1
415                        rejected      failed 1     failed 1     failed 1     unknown 1
422-fields                 rejected      failed 1     failed 1     failed 1     unknown 1
400-html                   rejected      failed 1     failed 1     failed 1     unknown 1
400-empty                  rejected      failed 1     failed 1     failed 1     unknown 1
400-escapes                rejected      failed 1     failed 1     failed 1     unknown 1
400-token                  listed        done 1       done 1       done 1       done 1
password-refused           listed        done 1       done 1       done 1       done 1
400-long                   rejected      failed 1     failed 1     failed 1     unknown 1
429                        rejected      failed 4     failed 4     failed 4     unknown 1
429-forever                rejected      failed 1     failed 1     failed 1     unknown 1
429-date                   rejected      failed 1     failed 1     failed 1     unknown 1
429-nonsense               rejected      failed 1     failed 1     failed 1     unknown 1
500-once                   protocol      failed 1     failed 1     failed 1     unknown 1
500                        protocol      failed 1     failed 1     failed 1     unknown 1
503-once                   listed        failed 1     failed 1     failed 1     done 1
503-busy                   protocol      failed 1     failed 1     failed 1     unknown 1
999                        protocol      failed 1     failed 1     failed 1     unknown 1
304                        protocol      failed 1     failed 1     failed 1     unknown 1
redirect-same              listed        failed 1     failed 1     failed 1     done 1
redirect-elsewhere         protocol      failed 1     failed 1     failed 1     unknown 1
redirect-login             protocol      failed 1     failed 1     failed 1     unknown 1
redirect-loop              protocol      failed 1     failed 1     failed 1     unknown 1
redirect-nowhere           protocol      failed 1     failed 1     failed 1     unknown 1

# No answer, or one that means nothing: nothing is carried out
silence                    unreachable   failed 1     failed 1     failed 1     unknown 1
reset                      unreachable   failed 1     failed 1     failed 1     unknown 1
half-close                 unreachable   failed 1     failed 1     failed 1     unknown 1
idle-close                 listed        done 1       done 1       done 1       done 1
html-page                  protocol      no effect 1  no effect 1  no effect 1  unknown 1
empty-200                  protocol      no effect 1  no effect 1  no effect 1  unknown 1
204                        protocol      no effect 1  no effect 1  no effect 1  unknown 1
202                        protocol      unknown 1    unknown 1    unknown 1    unknown 1
status-error               rejected      failed 1     failed 1     failed 1     unknown 1
success-false              rejected      failed 1     failed 1     failed 1     unknown 1
ok-text                    protocol      no effect 1  no effect 1  no effect 1  unknown 1
json-null                  protocol      no effect 1  no effect 1  no effect 1  unknown 1

# What a write does, and says that it does
accept-and-forget          -             no effect 1  no effect 1  -            -
code-in-200                -             no effect 1  no effect 1  -            -
delete-and-keep            -             -            -            no effect 1  -
store-altered              -             differs 1    differs 1    -            -
store-upper-case           -             differs 1    differs 1    -            -
store-cut                  -             differs 1    differs 1    -            -
store-padded               -             differs 1    differs 1    -            -
store-twice                -             differs 1    differs 1    -            -
update-creates             -             done 1       differs 1    -            -
update-another             -             differs 1    differs 1    -            -
alter-another              -             differs 1    differs 1    differs 1    -
add-another                -             done 1       done 1       done 1       -
delete-another             -             -            -            differs 1    -
delete-all-others          -             -            -            differs 1    -
delete-everything          -             unknown 1    unknown 1    unknown 1    -
500-after-storing          -             done 1       done 1       done 1       -
400-after-storing          -             failed 1     failed 1     failed 1     -
409-after-storing          -             failed 1     failed 1     failed 1     -
401-after-storing          -             failed 1     failed 1     failed 1     -
answer-another             -             done 1       done 1       -            -
store-late                 -             done 1       done 1       done 1       -
revert-later               -             done 1       done 1       -            -

# Headers; a write is carried out from here on
headers-stall              unreachable   done 1       done 1       done 1       unknown 1
slow-headers               unreachable   done 1       done 1       done 1       unknown 1
many-headers               protocol      done 1       done 1       done 1       unknown 1
long-header                protocol      done 1       done 1       done 1       unknown 1
endless-headers            protocol      done 1       done 1       done 1       unknown 1
early-hints                listed        done 1       done 1       done 1       done 1
endless-hints              unreachable   done 1       done 1       done 1       unknown 1
switching-protocols        unreachable   done 1       done 1       done 1       unknown 1
cookies                    listed        done 1       done 1       done 1       done 1
certificate-changes-later  listed        unknown 1    unknown 1    unknown 1    done 1

# Framing
store-and-drop             -             done 1       done 1       done 1       -
slow-body                  unreachable   done 1       done 1       done 1       unknown 1
body-in-pieces             listed        done 1       done 1       done 1       done 1
truncated-body             unreachable   done 1       done 1       done 1       unknown 1
endless-body               no answer     done 1       done 1       done 1       unknown 1
stalled-body               unreachable   done 1       done 1       done 1       unknown 1
short-length               protocol      done 1       done 1       done 1       unknown 1
long-length                unreachable   done 1       done 1       done 1       unknown 1
huge-length                protocol      done 1       done 1       done 1       unknown 1
two-lengths                unreachable   done 1       done 1       done 1       unknown 1
length-and-chunks          unreachable   done 1       done 1       done 1       unknown 1
chunk-garbage              protocol      done 1       done 1       done 1       unknown 1
chunk-huge                 protocol      done 1       done 1       done 1       unknown 1
chunk-cut                  unreachable   done 1       done 1       done 1       unknown 1
chunk-extensions           unreachable   done 1       done 1       done 1       unknown 1
trailer-flood              protocol      done 1       done 1       done 1       unknown 1
no-length                  listed        done 1       done 1       done 1       done 1
no-length-cut              unreachable   done 1       done 1       done 1       unknown 1
forged-answer              listed        done 1       done 1       done 1       done 1
http-0.9                   protocol      done 1       done 1       done 1       unknown 1
wrong-version              protocol      done 1       done 1       done 1       unknown 1
garbage                    protocol      done 1       done 1       done 1       unknown 1

# Encodings
gzip                       listed        done 1       done 1       done 1       done 1
deflate                    listed        done 1       done 1       done 1       done 1
deflate-bare               listed        done 1       done 1       done 1       done 1
brotli                     listed        done 1       done 1       done 1       done 1
gzip-many-times            protocol      done 1       done 1       done 1       unknown 1
gzip-truncated             protocol      done 1       done 1       done 1       unknown 1
gzip-garbage               protocol      done 1       done 1       done 1       unknown 1
gzip-bomb                  protocol      done 1       done 1       done 1       unknown 1
endless-gzip               no answer     done 1       done 1       done 1       unknown 1
unknown-encoding           protocol      done 1       done 1       done 1       unknown 1
latin-1                    listed        done 1       done 1       done 1       done 1
latin-1-unsaid             listed        done 1       done 1       done 1       done 1
utf-16                     listed        done 1       done 1       done 1       done 1
utf-16-marked              listed        done 1       done 1       done 1       done 1
byte-order-mark            listed        done 1       done 1       done 1       done 1
unknown-charset            listed        done 1       done 1       done 1       done 1

# JSON of an odd kind; lists are so all the time
invalid-json               protocol      done 1       done 1       done 1       unknown 1
null-list                  protocol      failed 0     failed 0     failed 0     unknown 1
scalars                    protocol      failed 0     failed 0     failed 0     unknown 1
null-record                protocol      failed 0     failed 0     failed 0     unknown 1
lone-object                listed        done 1       failed 0     failed 0     differs 1
not-a-number               protocol      failed 0     failed 0     failed 0     unknown 1
raw-control                protocol      failed 0     failed 0     failed 0     unknown 1
duplicate-keys             listed        differs 1    differs 1    done 1       differs 1
prototype-keys             listed        done 1       done 1       done 1       differs 1
deep-json                  protocol      failed 0     failed 0     failed 0     unknown 1
deep-open                  protocol      failed 0     failed 0     failed 0     unknown 1
big-integers               listed        done 1       done 1       done 1       differs 1
huge-float                 listed        done 1       done 1       done 1       differs 1
long-number                protocol      failed 0     failed 0     failed 0     unknown 1

# Records that do not fit together
no-ids                     listed        done 1       failed 0     failed 0     done 1
same-ids                   listed        done 1       failed 0     failed 0     done 1
traversing-ids             listed        done 1       failed 0     failed 0     done 1
object-ids                 listed        done 1       failed 0     failed 0     done 1
changing-ids               listed        done 1       drift 0      drift 0      done 1
no-usernames               listed        usage 0      failed 0     failed 0     differs 1
same-usernames             listed        differs 1    failed 0     failed 0     differs 1
object-usernames           listed        usage 0      failed 0     failed 0     differs 1
shuffled                   listed        done 1       done 1       done 1       done 1
changing-clock             listed        done 1       done 1       done 1       done 1
own-facts                  listed        done 1       done 1       done 1       differs 1
page-loop                  protocol      failed 0     failed 0     failed 0     unknown 1
page-elsewhere             protocol      failed 0     failed 0     failed 0     unknown 1
page-endless               protocol      failed 0     failed 0     failed 0     unknown 1
page-missing               protocol      failed 0     failed 0     failed 0     unknown 1
page-count-text            listed        done 1       done 1       done 1       done 1
million-users              protocol      failed 0     failed 0     failed 0     unknown 1

# Texts that attack the reader
text-escapes               listed        done 1       done 1       done 1       done 1
text-title                 listed        done 1       done 1       done 1       done 1
text-clipboard             listed        done 1       done 1       done 1       done 1
text-bidi                  listed        done 1       done 1       done 1       done 1
text-newlines              listed        done 1       done 1       done 1       done 1
text-invisible             listed        done 1       done 1       done 1       done 1
text-look-alike            listed        done 1       done 1       done 1       done 1
text-upper-case            listed        done 1       done 1       done 1       done 1
text-half-character        listed        done 1       done 1       done 1       done 1
text-combining             listed        done 1       done 1       done 1       done 1
text-formula               listed        done 1       done 1       done 1       done 1
text-huge                  listed        done 1       done 1       done 1       done 1
text-empty                 listed        done 1       done 1       done 1       done 1
text-null                  listed        done 1       done 1       done 1       done 1
text-field-names           listed        done 1       done 1       done 1       differs 1
`;

/** One cell of the matrix. */
export interface Expected {
  readonly fault: FaultName;
  readonly door: Operation;
  readonly end: string;
  readonly writes: number;
}

/** Two or more blanks separate the columns. */
export const EXPECTED: readonly Expected[] = TABLE.split('\n')
  .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('fault '))
  .flatMap((line) => {
    const [fault = '', ...cells] = line.split(/ {2,}/);
    return OPERATIONS.flatMap((door, index) => {
      const cell = cells[index] ?? '-';
      const [, end = cell, writes = '0'] = /^(.*) (\d)$/.exec(cell) ?? [];
      return cell === '-' ? [] : [{ fault: fault as FaultName, door, end, writes: Number(writes) }];
    });
  });
