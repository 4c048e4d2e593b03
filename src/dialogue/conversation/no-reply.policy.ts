/** The whole answer of a model that has nothing to say in an automatic turn. */
export const NO_REPLY = 'NO_REPLY';

export const saysNothing = (answer: string): boolean => ['', NO_REPLY].includes(answer.trim());

/** Whether what there is of an answer may still come to nothing. */
export const maySayNothing = (begun: string): boolean => NO_REPLY.startsWith(begun.trim());
