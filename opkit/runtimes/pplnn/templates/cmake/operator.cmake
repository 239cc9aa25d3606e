# Generated from op.yml by opkit. Do not edit: the next build overwrites it.
#
# What ppl.nn's build needs of ${name}; the other files of this folder read it.

get_filename_component(opkit_repository "$${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(opkit_operator "${key}")
set(opkit_function "${function}")
set(opkit_record "${record}") # where apply.py has laid the operator over ppl.nn

$sources
$include
$options
