import type { TopicBody } from './help-topic.ts';

export const trust: TopicBody = {
  text: () =>
    [
      'A certificate that a CA of the system verifies, or one of --ca FILE, is taken as usual. Any other is',
      'shown once with its SHA-256 fingerprint: compare it with the device, type yes, and it is pinned.',
      'On the full screen it waits in "questions" (F2) while work goes on; elsewhere it is asked at once.',
      'From then on only this certificate is taken. The check is part of the connection set-up: a wrong',
      'one gets no byte of HTTP, so no login either.',
      '',
      'trust scan @berlin                       compares a fleet with its pins; nothing is sent or kept',
      'trust accept fw1 --fingerprint HEX       pins without a question, for scripts',
      'trust scan @berlin > seen.tsv            for many: scan where the way is safe, compare, then elsewhere',
      'trust accept @berlin --fingerprints seen.tsv',
      'questions accept                         pins and connects what waits, but no changed certificate',
      'trust replace fw1                        after the device got a new certificate; shows both',
      'trust replace @berlin --ca new-ca.pem    many at once: by their CA, or by --fingerprints FILE',
      'trust list                               what is pinned, and when each certificate ends',
      '--insecure                               no check in this call; always said in words',
      '',
      'A changed certificate that nobody announced is what an attack looks like: ask before you replace.',
    ].join('\n'),
  examples: ['trust list', 'trust scan @berlin'],
};
