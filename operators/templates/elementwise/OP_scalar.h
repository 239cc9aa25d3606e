/*
 * The math of {{ spec.name }} for one element.
 *
 * generated/{{ lower }}_compute.h calls {{ lower }}_of for each element of the output
{%- if spec.inputs|length > 1 %}; the inputs are
 * broadcast as in numpy.
{% else %}.
{% endif %}
 */
#ifndef {{ upper }}_SCALAR_H
#define {{ upper }}_SCALAR_H

{{ own }}

#endif
